
__global__ void k(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % n == 0) { for (int j = 0; j < 100; j++) x[i] = sinf(x[i]); }
    else { for (int j = 0; j < 100; j++) x[i] = cosf(x[i]) * 2.0f; }
}
int main() { float *x; cudaMalloc(&x, 4 << 20); k<<<4096, 256>>>(x, 2); }
