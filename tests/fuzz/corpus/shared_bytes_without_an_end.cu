__global__ void k(float *p) { p[threadIdx.x * 32] = 1; }
void f(float *p) { unknown::k<void(int)> <<<18, 32, 1e400>>>(p); }
