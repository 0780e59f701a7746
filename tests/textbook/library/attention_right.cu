// Pieces of an attention layer, with their wrappers.
#include <cuda_runtime.h>

// One thread for each query: of rows of `dim` elements.
__global__ void scores_kernel(const float *q, const float *k, float *scores, int queries, int keys, int dim)
{
    int lane = threadIdx.x, i = blockIdx.y, j = blockIdx.x;
    float sum = 0.0f;
    for (int d = lane; d < dim; d += 32)
        sum += q[i * dim + d] * k[j * dim + d];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0)
        scores[i * keys + j] = sum;
}

__global__ void masked_max_kernel(const float *scores, float *largest, int rows, int cols)
{
    int row = blockIdx.x, col = threadIdx.x;
    float v = -INFINITY;
    if (col < cols)
        v = scores[row * cols + col];
    for (int offset = 16; offset > 0; offset /= 2)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, offset));
    if (col == 0)
        largest[row] = v;
}

__global__ void gather_kernel(const float *values, float *out, int heads, int dim)
{
    __shared__ float head[64][32];
    int tid = threadIdx.x;
    for (int r = 0; r < 32; r++)
        head[tid][(r + tid) % 32] = values[(blockIdx.x * 32 + r) * 64 + tid];
    __syncthreads();
    for (int r = 0; r < 64; r += 2)
        out[(blockIdx.x * 64 + r + tid / 32) * 32 + tid % 32] = head[r + tid / 32][(tid % 32 + r + tid / 32) % 32];
}

void scores(const float *q, const float *k, float *out, int queries, int keys, int dim)
{
    scores_kernel<<<dim3(keys, queries), 32>>>(q, k, out, queries, keys, dim);
}

// For up to 32 columns.
void masked_max(const float *scores, float *largest, int rows, int cols)
{
    masked_max_kernel<<<rows, 32>>>(scores, largest, rows, cols);
}

void gather(const float *values, float *out, int groups, int heads, int dim)
{
    gather_kernel<<<groups, 64>>>(values, out, heads, dim);
}
