
__global__ void k(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 2.0f;
}
int main() { float *x; cudaMalloc(&x, 4 << 20); k<<<dim3(64, 8), 256>>>(x, 16384); }
