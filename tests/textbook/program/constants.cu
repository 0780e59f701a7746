// Constant memory, atomics and literals.
#include <cstdio>

__constant__ float window[256];

__global__ void apply_window(const float *in, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    out[i] = in[i] * window[threadIdx.x];  // expect: CL110
}

__global__ void dot(const float *a, const float *b, float *result, int n)
{
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(result, a[i] * b[i]);  // expect: CL109
    (void)sum;
}

// A population after a hundred years.
__global__ void growth(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = x[i];
        for (int year = 0; year < 100; year++)
            v = 3.7 * v * (1.0 - v);  // expect: CL602
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
    float host[256] = {1.0f};
    cudaMemcpyToSymbol(window, host, sizeof(host));
    apply_window<<<n / 256, 256>>>(a, b);
    cudaMemset(result, 0, sizeof(float));
    dot<<<1024, 256>>>(a, b, result, n);
    growth<<<n / 256, 256>>>(a, b, n);
    cudaDeviceSynchronize();
    return 0;
}
