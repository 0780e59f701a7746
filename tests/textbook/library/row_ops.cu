// Operations on rows of a matrix that callers bring: what a library of layers has.
#include <cuda_runtime.h>

namespace ops {

__global__ void row_norms_kernel(const float *x, float *norms, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int j = 0; j < cols; j++) {
        float v = x[row * cols + j];  // expect: CL101
        sum += v * v;
    }
    norms[row] = sqrtf(sum);
}

void row_norms(const float *x, float *norms, int rows, int cols, cudaStream_t stream)
{
    const int threads = 256;
    row_norms_kernel<<<(rows + threads - 1) / threads, threads, 0, stream>>>(x, norms, rows, cols);
}

template <typename T>
__global__ void softmax_kernel(const T *x, T *y, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const T *in = x + row * cols;
    T *out = y + row * cols;
    float largest = in[0];
    for (int j = 1; j < cols; j++)
        largest = fmaxf(largest, in[j]);  // expect: CL101
    float sum = 0.0f;
    for (int j = 0; j < cols; j++)
        sum += expf(in[j] - largest);  // expect: CL101
    for (int j = 0; j < cols; j++)
        out[j] = expf(in[j] - largest) / sum;  // expect: CL101 CL101
}

void softmax(const float *x, float *y, int rows, int cols, cudaStream_t stream)
{
    softmax_kernel<float><<<(rows + 127) / 128, 128, 0, stream>>>(x, y, rows, cols);
}

}  // namespace ops
