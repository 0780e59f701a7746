
__global__ void k(float *x, int n) {
    __shared__ float s[256];
    s[threadIdx.x] = x[blockIdx.x * 256 + threadIdx.x];
    x[blockIdx.x * 256 + threadIdx.x] = s[(threadIdx.x + n) % 256];
}
int main() { float *x; cudaMalloc(&x, 65536); k<<<64, 256>>>(x, 33); }
