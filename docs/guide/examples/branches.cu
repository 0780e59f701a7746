// The same work behind two conditions: one parts the lanes of every warp, the other parts whole warps.

__global__ void by_lane(float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (threadIdx.x % 2 == 0) {
        for (int k = 0; k < 64; k++)
            v = v * 1.5f + 0.25f;
    } else {
        for (int k = 0; k < 64; k++)
            v = v * 0.5f - 0.75f;
    }
    x[i] = v;
}

__global__ void by_warp(float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (threadIdx.x / 32 % 2 == 0) {
        for (int k = 0; k < 64; k++)
            v = v * 1.5f + 0.25f;
    } else {
        for (int k = 0; k < 64; k++)
            v = v * 0.5f - 0.75f;
    }
    x[i] = v;
}

void run(float *x)
{
    by_lane<<<64, 256>>>(x);
    by_warp<<<64, 256>>>(x);
}
