// Scans and stencils of a block.
#define BLOCK 512

__global__ void scan_in_place(const int *in, int *out)
{
    __shared__ int s[BLOCK];
    int tid = threadIdx.x;
    s[tid] = in[blockIdx.x * BLOCK + tid];
    __syncthreads();
    for (int step = 1; step < BLOCK; step *= 2) {
        if (tid >= step)
            s[tid] += s[tid - step];  // expect: CL301
        __syncthreads();
    }
    out[blockIdx.x * BLOCK + tid] = s[tid];
}

__global__ void halo(const float *in, float *out, int n)
{
    __shared__ float s[BLOCK + 2];
    int g = blockIdx.x * BLOCK + threadIdx.x, l = threadIdx.x + 1;
    s[l] = g < n ? in[g] : 0.0f;
    if (threadIdx.x == 0) {
        s[0] = g > 0 && g <= n ? in[g - 1] : 0.0f;
        s[BLOCK + 1] = g + BLOCK < n ? in[g + BLOCK] : 0.0f;
    }
    if (g < n)
        out[g] = (s[l - 1] + s[l] + s[l + 1]) / 3.0f;  // expect: CL301
}

__global__ void small_halo(const float *in, float *out, int n)
{
    __shared__ float s[BLOCK];
    int g = blockIdx.x * BLOCK + threadIdx.x;
    s[threadIdx.x] = g < n ? in[g] : 0.0f;
    if (threadIdx.x == 0)
        s[BLOCK] = g + BLOCK < n ? in[g + BLOCK] : 0.0f;  // expect: CL107
    __syncthreads();
    if (g < n)
        out[g] = s[threadIdx.x + 1] - s[threadIdx.x];
}

__global__ void relax(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        x[i] = 0.5f * (x[i - 1] + x[i + 1]);  // expect: CL305
}

__global__ void polynomial(const float *x, float *y, int n)
{
    float powers[4];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    powers[0] = 1.0f;
    for (int k = 1; k <= 4; k++)
        powers[k] = powers[k - 1] * x[i];  // expect: CL107
    y[i] = powers[0] + powers[1] + powers[2] + powers[3];
}
