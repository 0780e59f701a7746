// Element-wise functions with wrappers as an extension of a framework has them.
#include <cuda_runtime.h>

template <typename scalar_t>
__global__ void relu_kernel(const scalar_t *x, scalar_t *y, int numel)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < numel)
        y[i] = x[i] > 0 ? x[i] : 0;
}

__global__ void squash_kernel(const float *x, float *y, int numel)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= numel)
        return;
    float v = x[i];
    for (int k = 0; k < 50; k++)
        v = v / (1.0f + v * v);
    y[i] = v;
}

__global__ void orbit_kernel(const float *x, float *y, int numel)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= numel)
        return;
    float v = x[i];
    for (int k = 0; k < 200; k++)
        v = v * v - 0.5f;
    y[i] = v;
}

__global__ void power_kernel(const float *x, float *y, int numel)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < numel)
        y[i] = powf(x[i], 2.5f);
}

__global__ void bias_kernel(float *x, const float *bias, int numel, int channels)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < numel)
        x[i] += bias[i % channels];
}

__global__ void pairs_kernel(const float *x, float *y, int pairs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pairs) {
        float2 v = *reinterpret_cast<const float2 *>(&x[2 * i]);
        y[i] = v.x - v.y;
    }
}

void relu(const float *x, float *y, int numel)
{
    const int threads = 256;
    const int blocks = (numel + threads - 1) / threads;
    relu_kernel<float><<<blocks, threads>>>(x, y, numel);
}

void squash(const float *x, float *y, int numel)
{
    squash_kernel<<<(numel + 127) / 128, 128>>>(x, y, numel);
}

void orbit(const float *x, float *y, int numel)
{
    orbit_kernel<<<(numel + 127) / 128, 128>>>(x, y, numel);
}

void power(const float *x, float *y, int numel)
{
    power_kernel<<<(numel + 255) / 256, 256>>>(x, y, numel);
}

float *biased(const float *bias, int numel, int channels)
{
    float *x;
    cudaMalloc(&x, numel * sizeof(float));
    cudaMemset(x, 0, numel * sizeof(float));
    bias_kernel<<<(numel + 255) / 256, 256>>>(x, bias, numel, channels);
    return x;
}

void pairs(const float *x, float *y, int n)
{
    pairs_kernel<<<(n + 255) / 256, 256>>>(x, y, n);
}
