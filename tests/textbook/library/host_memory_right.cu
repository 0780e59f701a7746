// Tables that stay in memory of the host.
#include <cuda_runtime.h>

__global__ void every_eighth(const float *table, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = table[i];
}

float *sampled(int n)
{
    float *host, *table, *y;
    cudaHostAlloc(&host, n * sizeof(float), cudaHostAllocMapped);
    cudaHostGetDevicePointer(&table, host, 0);
    cudaMalloc(&y, n * sizeof(float));
    every_eighth<<<(n + 255) / 256, 256>>>(table, y, n);
    return y;
}
