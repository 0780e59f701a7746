
__global__ void k(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) x[i] = 1.0f;
}
int main() { float *x; cudaMalloc(&x, 4 * 1000); k<<<4, 256>>>(x, 1000); }
