__global__ void total(const float *in, float *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sum, in[i]);  // expect: CL109 "all 32 lanes of a warp go to one address of `sum`"
}

__global__ void total_by_warps(const float *in, float *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i];
    for (int step = 16; step > 0; step /= 2)
        x += __shfl_down_sync(~0u, x, step);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, x);
}

void run(const float *in, float *sum)
{
    total<<<256, 256>>>(in, sum);
    total_by_warps<<<256, 256>>>(in, sum);
}
