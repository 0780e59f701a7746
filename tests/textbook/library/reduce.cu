// Sums over what a caller brings: a class that keeps the memory for the sums of blocks.
#include <cuda_runtime.h>

template <int Threads>
__global__ void sum_of_blocks(const float *x, float *partial, size_t n)
{
    __shared__ float s[Threads];
    size_t i = (size_t)blockIdx.x * Threads + threadIdx.x;
    if (i < n)
        s[threadIdx.x] = x[i];
    __syncthreads();
    for (int width = Threads / 2; width > 0; width /= 2) {
        if (threadIdx.x < width)
            s[threadIdx.x] += s[threadIdx.x + width];  // expect: CL306
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = s[0];
}

template <int Threads>
__global__ void largest_of_blocks(const float *x, float *partial, size_t n)
{
    __shared__ float s[Threads];
    size_t i = (size_t)blockIdx.x * Threads + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : -INFINITY;
    __syncthreads();
    for (int width = Threads / 2; width > 0; width /= 2) {
        if (threadIdx.x < width)
            s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + width]);  // expect: CL301
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = s[0];
}

__global__ void sum_of_all(const float *x, float *sum, size_t n)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        atomicAdd(sum, x[i]);  // expect: CL109
}

__global__ void count_positive(const float *x, int *count, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] > 0.0f)
        *count += 1;  // expect: CL305
}

class Reducer {
public:
    explicit Reducer(cudaStream_t stream) : stream_(stream) {}

    void sum(const float *x, float *partial, size_t n)
    {
        sum_of_blocks<256><<<(n + 255) / 256, 256, 0, stream_>>>(x, partial, n);
    }

    void largest(const float *x, float *partial, size_t n)
    {
        largest_of_blocks<256><<<(n + 255) / 256, 256, 0, stream_>>>(x, partial, n);
    }

    void total(const float *x, float *sum, size_t n)
    {
        sum_of_all<<<1024, 256, 0, stream_>>>(x, sum, n);
    }

    void positive(const float *x, int *count, size_t n)
    {
        count_positive<<<(n + 255) / 256, 256, 0, stream_>>>(x, count, n);
    }

private:
    cudaStream_t stream_;
};

void reduce(Reducer &reducer, const float *x, float *out, int *count, size_t n)
{
    reducer.sum(x, out, n);
    reducer.largest(x, out, n);
    reducer.total(x, out, n);
    reducer.positive(x, count, n);
}
