
__global__ void __launch_bounds__(128) k(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 2.0f * x[i];
}
int main() { float *x; cudaMalloc(&x, 4 << 20); k<<<1000, 256>>>(x, 100000); }
