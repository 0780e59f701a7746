// Doubling an array, each thread a run of 64 elements.

__global__ void runs(float *a, int n)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 64;
    for (int i = first; i < first + 64 && i < n; i++)
        a[i] *= 2;
}

__global__ void strides(float *a, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        a[i] *= 2;
}

void run(float *a)
{
    runs<<<256, 256>>>(a, 1 << 22);
    strides<<<256, 256>>>(a, 1 << 22);
}
