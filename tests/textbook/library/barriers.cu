// Neighbours through shared memory, for lengths that callers choose.
#include <cuda_runtime.h>

__global__ void differences_kernel(const float *x, float *y, int n)
{
    __shared__ float s[257];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0.0f;
    if (threadIdx.x == 0) {
        s[256] = i + 256 < n ? x[i + 256] : 0.0f;
        __syncthreads();  // expect: CL302
    }
    if (i + 1 < n)
        y[i] = s[threadIdx.x + 1] - s[threadIdx.x];  // expect: CL301
}

__global__ void smooth_kernel(const float *x, float *y, int n)
{
    __shared__ float s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n)
        y[i] = 0.5f * (s[threadIdx.x] + s[threadIdx.x + 1]);  // expect: CL107
}

__global__ void grow_kernel(float *x, int n, float rate)
{
    __shared__ float s[256];
    int tid = threadIdx.x, i = blockIdx.x * 256 + tid;
    s[tid] = i < n ? x[i] : 0.0f;
    __syncthreads();
    float v = s[tid ^ 64];
    for (int step = 0; step < 100; step++) {
        v += rate * (1.0f - v * v);
        __syncthreads();  // expect: CL303
    }
    if (i < n)
        x[i] = v;
}

__global__ void turns_kernel(const float *x, float *y, int n)
{
    __shared__ float s[256];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) {
        s[threadIdx.x] = x[i];
        __syncthreads();  // expect: CL302
        sum += s[255 - threadIdx.x];
        __syncthreads();
    }
    y[threadIdx.x] = sum;
}

void differences(const float *x, float *y, int n, cudaStream_t stream)
{
    differences_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

void smooth(const float *x, float *y, int n, cudaStream_t stream)
{
    smooth_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, y, n);
}

void grow(float *x, int n, float rate, cudaStream_t stream)
{
    grow_kernel<<<(n + 255) / 256, 256, 0, stream>>>(x, n, rate);
}

void turns(const float *x, float *y, int n, cudaStream_t stream)
{
    turns_kernel<<<1, 256, 0, stream>>>(x, y, n);
}
