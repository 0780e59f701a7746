// A tile of 16 by 16, as a block of 16 by 16 threads has it: a column of 16 words lies in two banks.
#include <cuda_runtime.h>

__global__ void small_tile(const float *in, float *out, int n)
{
    __shared__ float tile[16][16];
    int x = blockIdx.x * 16 + threadIdx.x;
    int y = blockIdx.y * 16 + threadIdx.y;
    if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = in[y * n + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < n && y < n) out[y * n + x] = tile[threadIdx.x][threadIdx.y];
}

int main()
{
    const int n = 1024;
    float *in, *out;
    cudaMalloc(&in, n * n * sizeof(float));
    cudaMalloc(&out, n * n * sizeof(float));
    small_tile<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(in, out, n);
    cudaDeviceSynchronize();
}
