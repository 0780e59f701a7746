// Work that lanes share out unevenly.
#include <cstdio>

__global__ void running_means(const float *x, float *y)
{
    int lane = threadIdx.x % 32;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = x[i];
    for (int step = 1; step < 32; step *= 2) {
        float left = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step)
            sum += left;
    }
    y[i] = sum / (lane + 1);
}

__global__ void two_kinds(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (threadIdx.x / 32 % 2 == 0) {
        for (int k = 0; k < 64; k++)
            v = v * v * 0.999f + 0.1f;
    } else {
        for (int k = 0; k < 64; k++)
            v = sqrtf(v + 1.0f);
    }
    y[i] = v;
}

int main()
{
    const int n = 1 << 20;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    running_means<<<n / 256, 256>>>(x, y);
    two_kinds<<<n / 256, 256>>>(x, y);
    cudaDeviceSynchronize();
    return 0;
}
