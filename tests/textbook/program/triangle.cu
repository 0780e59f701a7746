// Work that lanes share out unevenly.
#include <cstdio>

__global__ void running_means(const float *x, float *y)
{
    __shared__ float s[8][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[warp][lane] = x[i];
    __syncwarp();
    float sum = 0.0f;
    for (int k = 0; k <= lane; k++)  // expect: CL402
        sum += s[warp][k];
    y[i] = sum / (lane + 1);
}

__global__ void two_kinds(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    if (threadIdx.x % 2 == 0) {  // expect: CL401
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
