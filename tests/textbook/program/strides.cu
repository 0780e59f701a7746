// What a stride costs: the usual experiment of a first course.
#include <cstdio>

__global__ void copy_every_fourth(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * 4 < n)
        y[i * 4] = x[i * 4];  // expect: CL101 CL101
}

__global__ void scale_chunks(float *x, int n, float a)
{
    // Each thread has a chunk of its own, as a thread of a CPU has.
    const int chunk = 64;
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * chunk;
    for (int i = first; i < first + chunk && i < n; i++)
        x[i] *= a;  // expect: CL101
}

int main()
{
    const int n = 1 << 24;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    copy_every_fourth<<<n / 4 / 256, 256>>>(x, y, n);
    scale_chunks<<<n / 64 / 256, 256>>>(x, n, 2.0f);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(y);
    return 0;
}
