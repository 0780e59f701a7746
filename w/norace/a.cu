
__global__ void k(float *x, int stride) {
    int i = blockIdx.x * stride + threadIdx.x;
    x[i] = blockIdx.x;
}
int main() { float *x; cudaMalloc(&x, 65536); k<<<64, 256>>>(x, 256); }
