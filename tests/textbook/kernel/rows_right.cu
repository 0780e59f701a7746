// Kernels on rows that a header of a library has; who launches them isn't here.

__global__ void row_max(const float *x, float *largest, int rows, int cols)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows)
        return;
    float v = -INFINITY;
    for (int j = threadIdx.x; j < cols; j += 32)
        v = fmaxf(v, x[row * cols + j]);
    for (int offset = 16; offset > 0; offset /= 2)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, offset));
    if (threadIdx.x == 0)
        largest[row] = v;
}

__global__ void scale_columns(float *x, const float *factors, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols)
        x[row * cols + col] *= factors[col];
}

__global__ void interleave(const float *re, const float *im, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[i] = re[i];
        out[n + i] = im[i];
    }
}

__global__ void distances(const float *points, const float *center, float *out, int n)
{
    // Points of eight coordinates: all first ones, then all second ones.
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int d = 0; d < 8; d++) {
        float v = points[d * n + i] - center[d];
        sum += v * v;
    }
    out[i] = sum;
}
