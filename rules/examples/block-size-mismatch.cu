#include <cub/cub.cuh>

__global__ void total(const float *x, float *sums) {
    using Reduce = cub::BlockReduce<float, 128>;
    __shared__ Reduce::TempStorage storage;
    float sum = Reduce(storage).Sum(x[blockIdx.x * blockDim.x + threadIdx.x]);  // expect: CL506 "64 threads"
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

int main() {
    float *x, *sums;
    cudaMalloc(&x, 6400 * sizeof(float));
    cudaMalloc(&sums, 100 * sizeof(float));
    total<<<100, 64>>>(x, sums);
}
