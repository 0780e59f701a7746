// What a stride costs: the usual experiment of a first course.
#include <cstdio>

__global__ void copy_every_fourth(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i];
}

__global__ void scale_chunks(float *x, int n, float a)
{
    int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        x[i] *= a;
}

int main()
{
    const int n = 1 << 24;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    copy_every_fourth<<<n / 256, 256>>>(x, y, n);
    scale_chunks<<<n / 64 / 256, 256>>>(x, n, 2.0f);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(y);
    return 0;
}
