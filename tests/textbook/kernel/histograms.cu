// Counting.
#define BINS 128

__global__ void count_lost(const int *keys, int *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        counts[keys[i] & 127] += 1;  // expect: CL305
}

__global__ void count_shared(const int *keys, int *counts, int n)
{
    __shared__ int local[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        local[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        local[keys[i] & 127]++;  // expect: CL301
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        atomicAdd(&counts[b], local[b]);
}

__global__ void count_garbage(const int *keys, int *counts, int n)
{
    __shared__ int local[BINS];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&local[keys[i] & 127], 1);  // expect: CL306
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        atomicAdd(&counts[b], local[b]);
}

__global__ void total_of_block(const float *x, float *out)
{
    __shared__ float total;
    float v = x[blockIdx.x * blockDim.x + threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2)
        v += __shfl_down_sync(0xffffffffu, v, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&total, v);  // expect: CL306
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = total;
}
