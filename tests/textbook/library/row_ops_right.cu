// Operations on rows of a matrix that callers bring: what a library of layers has.
#include <cuda_runtime.h>

namespace ops {

__global__ void row_norms_kernel(const float *x, float *norms, int rows, int cols)
{
    int row = blockIdx.x;
    float sum = 0.0f;
    for (int j = threadIdx.x; j < cols; j += 32) {
        float v = x[row * cols + j];
        sum += v * v;
    }
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (threadIdx.x == 0)
        norms[row] = sqrtf(sum);
}

void row_norms(const float *x, float *norms, int rows, int cols, cudaStream_t stream)
{
    row_norms_kernel<<<rows, 32, 0, stream>>>(x, norms, rows, cols);
}

template <typename T>
__global__ void softmax_kernel(const T *x, T *y, int rows, int cols)
{
    const T *in = x + blockIdx.x * cols;
    T *out = y + blockIdx.x * cols;
    int lane = threadIdx.x;
    float largest = -INFINITY;
    for (int j = lane; j < cols; j += 32)
        largest = fmaxf(largest, in[j]);
    for (int offset = 16; offset > 0; offset /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
    float sum = 0.0f;
    for (int j = lane; j < cols; j += 32)
        sum += expf(in[j] - largest);
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    for (int j = lane; j < cols; j += 32)
        out[j] = expf(in[j] - largest) / sum;
}

void softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
    softmax_kernel<float><<<rows, 32, 0, stream>>>(x, y, rows, cols);
}

}  // namespace ops
