// Kernels on rows that a header of a library has; who launches them isn't here.

__global__ void row_max(const float *x, float *largest, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float v = x[row * cols];
    for (int j = 1; j < cols; j++)
        v = fmaxf(v, x[row * cols + j]);  // expect: CL101
    largest[row] = v;
}

__global__ void scale_columns(float *x, const float *factors, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols)
        x[row * cols + col] *= factors[col];  // expect: CL101
}

__global__ void interleave(const float *re, const float *im, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        out[16 * i] = re[i];  // expect: CL101
        out[16 * i + 8] = im[i];  // expect: CL101
    }
}

__global__ void distances(const float *points, const float *center, float *out, int n)
{
    // Points of eight coordinates, one after the other.
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int d = 0; d < 8; d++) {
        float v = points[i * 8 + d] - center[d];  // expect: CL101
        sum += v * v;
    }
    out[i] = sum;
}
