// The warp makes 32 iterations, the mean lane 16.5.
__global__ void triangle(float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i];
    for (int k = 0; k <= threadIdx.x % 32; k++)  // expect: CL402
        x = x * 0.5f + k / x;
    a[i] = x;
}

// A warp's lanes make equally many, and the warps differ.
__global__ void by_warp(float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i];
    for (int k = 0; k <= threadIdx.x / 32; k++)
        x = x * 0.5f + k / x;
    a[i] = x;
}

void run(float *a, int blocks)
{
    triangle<<<blocks, 256>>>(a);
    by_warp<<<blocks, 256>>>(a);
}
