// Layer normalisation: a block for each row.
#include <cuda_runtime.h>

constexpr int kThreads = 256;

__inline__ __device__ float block_sum(float v, float *shared)
{
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int offset = 16; offset > 0; offset /= 2)
        v += __shfl_down_sync(0xffffffffu, v, offset);
    if (lane == 0)
        shared[warp] = v;  // expect: CL301
    __syncthreads();
    v = threadIdx.x < kThreads / 32 ? shared[lane] : 0.0f;
    if (warp == 0)
        for (int offset = 4; offset > 0; offset /= 2)
            v += __shfl_down_sync(0xffffffffu, v, offset);
    return v;
}

__global__ void layer_norm_kernel(const float *x, float *y, int cols, float eps)
{
    __shared__ float sums[32];
    __shared__ float mean, scale;
    const float *in = x + (size_t)blockIdx.x * cols;
    float *out = y + (size_t)blockIdx.x * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int j = threadIdx.x; j < cols; j += kThreads) {
        sum += in[j];
        squares += in[j] * in[j];
    }
    sum = block_sum(sum, sums);
    squares = block_sum(squares, sums);
    if (threadIdx.x == 0) {
        mean = sum / cols;
        scale = rsqrtf(squares / cols - mean * mean + eps);
    }
    __syncthreads();
    for (int j = threadIdx.x; j < cols; j += kThreads)
        out[j] = (in[j] - mean) * scale;
}

__global__ void rms_norm_kernel(const float *x, float *y, int cols, float eps)
{
    __shared__ float scale;
    const float *in = x + (size_t)blockIdx.x * cols;
    float *out = y + (size_t)blockIdx.x * cols;
    float squares = 0.0f;
    for (int j = threadIdx.x; j < cols; j += 32)
        squares += in[j] * in[j];
    for (int offset = 16; offset > 0; offset /= 2)
        squares += __shfl_down_sync(0xffffffffu, squares, offset);
    if (threadIdx.x == 0)
        scale = rsqrtf(squares / cols + eps);
    for (int j = threadIdx.x; j < cols; j += 32)
        out[j] = in[j] * scale;  // expect: CL304
}

void layer_norm(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
    layer_norm_kernel<<<rows, kThreads, 0, stream>>>(x, y, cols, 1e-5f);
}

void rms_norm(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
    rms_norm_kernel<<<rows, 32, 0, stream>>>(x, y, cols, 1e-5f);
}
