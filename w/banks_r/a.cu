
__global__ void k(float *x, int n) {
    __shared__ float s[32][32];
    s[threadIdx.y][threadIdx.x] = x[threadIdx.y * n + threadIdx.x + blockIdx.x * n * n];
    __syncthreads();
    x[threadIdx.y * n + threadIdx.x + blockIdx.x * n * n] = s[threadIdx.x][threadIdx.y];
}
int main() { float *x; cudaMalloc(&x, 4 << 20); k<<<1024, dim3(32, 32)>>>(x, 32); }
