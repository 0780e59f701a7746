// Constant memory, atomics and literals.
#include <cstdio>

__constant__ float scale_of_window;

__global__ void apply_window(const float *in, const float *window, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    out[i] = in[i] * window[threadIdx.x] * scale_of_window;
}

__global__ void dot(const float *a, const float *b, float *result, int n)
{
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += a[i] * b[i];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x % 32 == 0)
        atomicAdd(result, sum);
}

// A population after a hundred years.
__global__ void growth(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        for (int year = 0; year < 100; year++)
            v = 3.7f * v * (1.0f - v);
        y[i] = v;
    }
}

int main()
{
    const int n = 1 << 22;
    float *a, *b, *result;
    cudaMalloc(&a, n * sizeof(float));
    cudaMalloc(&b, n * sizeof(float));
    cudaMalloc(&result, sizeof(float));
    float *window;
    cudaMalloc(&window, 256 * sizeof(float));
    float host = 1.0f;
    cudaMemcpyToSymbol(scale_of_window, &host, sizeof(host));
    apply_window<<<n / 256, 256>>>(a, window, b);
    cudaMemset(result, 0, sizeof(float));
    dot<<<1024, 256>>>(a, b, result, n);
    growth<<<n / 256, 256>>>(a, b, n);
    cudaDeviceSynchronize();
    return 0;
}
