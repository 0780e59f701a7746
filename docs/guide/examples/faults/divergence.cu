// Two kinds of work, given to every other thread, then to every other warp.

__device__ float one(float x)
{
    for (int i = 0; i < 200; i++)
        x = x * x + 0.25f;
    return x;
}

__device__ float other(float x)
{
    for (int i = 0; i < 200; i++)
        x = 3.5f * x * (1 - x);
    return x;
}

__global__ void by_thread(float *a)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x % 2 == 0)
        a[i] = one(a[i]);
    else
        a[i] = other(a[i]);
}

__global__ void by_warp(float *a)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x / 32 % 2 == 0)
        a[i] = one(a[i]);
    else
        a[i] = other(a[i]);
}

void run(float *a)
{
    by_thread<<<16384, 256>>>(a);
    by_warp<<<16384, 256>>>(a);
}
