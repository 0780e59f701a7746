__device__ float refine(float x, float factor)
{
    for (int k = 0; k < 64; k++)
        x = x * factor + 1 / x;
    return x;
}

// Every warp executes both sides.
__global__ void lanes(float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i];
    if (threadIdx.x % 2)  // expect: CL401
        x = refine(x, 0.5f);
    else
        x = refine(x, 1.5f);
    a[i] = x;
}

// Whole warps go one way.
__global__ void warps(float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i];
    if (threadIdx.x / 32 % 2)
        x = refine(x, 0.5f);
    else
        x = refine(x, 1.5f);
    a[i] = x;
}

void run(float *a, int blocks)
{
    lanes<<<blocks, 256>>>(a);
    warps<<<blocks, 256>>>(a);
}
