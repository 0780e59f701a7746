
extern __shared__ float s[];
__global__ void k(float *x, int pitch) {
    s[threadIdx.y * pitch + threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x + blockIdx.x * 1024];
    __syncthreads();
    x[threadIdx.y * 32 + threadIdx.x + blockIdx.x * 1024] = s[threadIdx.x * pitch + threadIdx.y];
}
int main() { float *x; cudaMalloc(&x, 4 << 20); k<<<1024, dim3(32, 32), 4096>>>(x, 32); }
