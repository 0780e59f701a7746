
extern __shared__ float s[];
__global__ void k(float *x, int n) {
    s[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    x[blockIdx.x * blockDim.x + threadIdx.x] = s[n - threadIdx.x];
}
int main() { float *x; cudaMalloc(&x, 4 << 20); k<<<1024, 256, 1024>>>(x, 256); }
