// Lists of neighbours: lanes with work of different lengths, and kinds of threads.
#include <cuda_runtime.h>

__global__ void refine_kernel(const float *matrices, float *x, int systems)
{
    // Each lane improves its own number: lanes further on take more steps.
    int lane = threadIdx.x % 32;
    int system = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (system >= systems)
        return;
    const float *m = matrices + (size_t)system * 1024;
    float pivot = m[lane * 32 + lane], sum = m[lane];
    for (int k = 0; k < 8 * lane; k++)  // expect: CL402
        sum = 0.5f * (sum + pivot / sum);
    x[system * 32 + lane] = sum;
}

__global__ void mix_kernel(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i];
    if (threadIdx.x & 1) {  // expect: CL401
        for (int k = 0; k < 50; k++)
            v = __sinf(v) + 0.5f;
    } else {
        for (int k = 0; k < 50; k++)
            v = __expf(-v) * 0.25f;
    }
    y[i] = v;
}

void refine(const float *matrices, float *x, int systems)
{
    refine_kernel<<<(systems + 7) / 8, 256>>>(matrices, x, systems);
}

void mix(const float *x, float *y, int n)
{
    mix_kernel<<<(n + 255) / 256, 256>>>(x, y, n);
}
