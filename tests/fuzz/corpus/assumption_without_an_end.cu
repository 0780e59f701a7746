// cudalint: assume(n == 1e999, m == -1e999)
__global__ void k(float *p, int n, int m) { p[threadIdx.x * n] = m; }
