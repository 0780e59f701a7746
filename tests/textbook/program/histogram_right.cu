// How often each byte occurs.
#include <cstdio>

__global__ void without_atomics(const unsigned char *data, unsigned *bins, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[data[i]], 1u);
}

__global__ void bins_not_cleared(const unsigned char *data, unsigned *bins, int n)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

__global__ void no_barrier_after_clearing(const unsigned char *data, unsigned *bins, int n)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[data[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

int main()
{
    const int n = 1 << 24;
    unsigned char *data;
    unsigned *bins;
    cudaMalloc(&data, n);
    cudaMalloc(&bins, 256 * sizeof(unsigned));
    cudaMemset(bins, 0, 256 * sizeof(unsigned));
    without_atomics<<<(n + 255) / 256, 256>>>(data, bins, n);
    bins_not_cleared<<<256, 256>>>(data, bins, n);
    no_barrier_after_clearing<<<256, 256>>>(data, bins, n);
    cudaDeviceSynchronize();
    return 0;
}
