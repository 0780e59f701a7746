// Literals, tables and lanes that part.

__global__ void oscillate(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float position = x[i], velocity = y[i];
    for (int step = 0; step < 100; step++) {
        velocity -= 0.01f * position;
        position += 0.01f * velocity;
    }
    y[i] = position;
}

__global__ void gaussian(const float *x, float *y, int n, float sigma)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = expf(-0.5f * x[i] * x[i] / (sigma * sigma));
}

__global__ void weigh(const float *x, const float *coefficients, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * coefficients[threadIdx.x];
}

__global__ void odd_and_even(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    if (i / 32 % 2 == 0) {
        for (int k = 0; k < 40; k++)
            v = v * v + 0.25f;
    } else {
        for (int k = 0; k < 40; k++)
            v = v / (1.0f + v * v);
    }
    y[i] = v;
}

__global__ void lane_by_lane(const float *x, float *y, int n)
{
    int lane = threadIdx.x % 32;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = 1.0f;
    for (int k = 0; k < 64; k++)
        v = v * 0.5f + 1.0f;
    if (i < n)
        y[i] = x[i] * v * lane;
}
