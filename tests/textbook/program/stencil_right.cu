// A stencil in one dimension, with a halo in shared memory.
#include <cstdio>
#define RADIUS 3
#define BLOCK 256

__global__ void direct(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}

// `in` has RADIUS elements more at each end.
__global__ void no_barrier(const float *in, float *out)
{
    __shared__ float s[BLOCK + 2 * RADIUS];
    int g = blockIdx.x * BLOCK + threadIdx.x + RADIUS;
    int l = threadIdx.x + RADIUS;
    s[l] = in[g];
    if (threadIdx.x < RADIUS) {
        s[l - RADIUS] = in[g - RADIUS];
        s[l + BLOCK] = in[g + BLOCK];
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += s[l + k];
    out[g] = sum;
}

__global__ void halo_on_one_side(const float *in, float *out)
{
    __shared__ float s[BLOCK + 2 * RADIUS];
    int g = blockIdx.x * BLOCK + threadIdx.x + RADIUS;
    int l = threadIdx.x + RADIUS;
    s[l] = in[g];
    if (threadIdx.x < RADIUS) {
        s[l - RADIUS] = in[g - RADIUS];
        s[l + BLOCK] = in[g + BLOCK];
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += s[l + k];
    out[g] = sum;
}

__global__ void in_place(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] / 3.0f;
}

int main()
{
    const int n = 1 << 20;
    float *in, *out;
    cudaMalloc(&in, (n + 2 * RADIUS) * sizeof(float));
    cudaMalloc(&out, (n + 2 * RADIUS) * sizeof(float));
    float *line, *smooth;
    cudaMalloc(&line, n * sizeof(float));
    cudaMalloc(&smooth, n * sizeof(float));
    direct<<<n / BLOCK, BLOCK>>>(line, smooth, n);
    no_barrier<<<n / BLOCK, BLOCK>>>(in, out);
    halo_on_one_side<<<n / BLOCK, BLOCK>>>(in, out);
    in_place<<<n / BLOCK, BLOCK>>>(line, n);
    cudaDeviceSynchronize();
    return 0;
}
