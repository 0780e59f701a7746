
__global__ void k(float *x, const float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = y[i];
}
int main() { float *x, *y; cudaMalloc(&x, 4 << 20); cudaMalloc(&y, 64 << 20); k<<<4096, 256>>>(x, y + 3, 1 << 20); }
