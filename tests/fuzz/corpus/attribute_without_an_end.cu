__global__ void k(float *p, int n) { p[threadIdx.x] = n; }
template <typename T> void f(float *d, int n) { cudaDeviceGetAttribute(&n, 1e400, 0); cudaMalloc(&d, T(1e400)); k<<<1, 32>>>(d, n); }
int main() { int n = 0; cudaDeviceGetAttribute(&n, (cudaDeviceAttr)(1e400), 0); f<double>(nullptr, n); }
