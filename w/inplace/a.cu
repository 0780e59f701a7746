
__global__ void k(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n) out[i] = in[i - 1];
}
int main() { float *x; cudaMalloc(&x, 4 << 20); k<<<4096, 256>>>(x, x, 1 << 20); }
