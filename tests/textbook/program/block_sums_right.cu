// Sums of blocks by a library.
#include <cub/cub.cuh>

template <int Threads> __global__ void block_sums(const float *x, float *sums)
{
    using Reduce = cub::BlockReduce<float, Threads>;
    __shared__ typename Reduce::TempStorage storage;
    float sum = Reduce(storage).Sum(x[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

int main()
{
    const int n = 1 << 20;
    float *x, *sums;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&sums, n / 256 * sizeof(float));
    block_sums<256><<<n / 256, 256>>>(x, sums);
    cudaDeviceSynchronize();
    return 0;
}
