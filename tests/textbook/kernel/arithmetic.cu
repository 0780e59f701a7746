// Literals, tables and lanes that part.

__global__ void oscillate(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float position = x[i], velocity = y[i];
    for (int step = 0; step < 100; step++) {
        velocity -= 0.01 * position;  // expect: CL602
        position += 0.01 * velocity;
    }
    y[i] = position;
}

__global__ void gaussian(const float *x, float *y, int n, float sigma)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = exp(-0.5 * x[i] * x[i] / (sigma * sigma));  // expect: CL602
}

__constant__ float coefficients[1024];

__global__ void weigh(const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i] * coefficients[threadIdx.x];  // expect: CL110
}

__global__ void odd_and_even(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    if (i % 2 == 0) {  // expect: CL401
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
    for (int k = 0; k < 4 * lane; k++)  // expect: CL402
        v = v * 0.5f + 1.0f;
    if (i < n)
        y[i] = x[i] * v;
}
