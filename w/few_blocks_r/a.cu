
__global__ void k(float *x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] = 2.0f * x[i];
}
int main() { float *x; cudaMalloc(&x, 4 << 20); k<<<3, 128>>>(x, 1 << 20); }
