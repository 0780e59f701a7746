// Sums of blocks, from the first try to the last.
#include <cstdio>

__global__ void interleaved(const float *in, float *out)
{
    __shared__ float s[256];
    int tid = threadIdx.x;
    s[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (tid < step)
            s[tid] += s[tid + step];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = s[0];
}

__global__ void packed(const float *in, float *out)
{
    __shared__ float s[256];
    int tid = threadIdx.x;
    s[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        int i = tid;
        if (i < step)
            s[i] += s[i + step];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = s[0];
}

__global__ void sequential(const float *in, float *out)
{
    __shared__ float s[256];
    int tid = threadIdx.x;
    s[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (tid < step)
            s[tid] += s[tid + step];
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = s[0];
}

__global__ void unrolled(const float *in, float *out)
{
    __shared__ volatile float s[256];
    int tid = threadIdx.x;
    s[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    if (tid < 128)
        s[tid] += s[tid + 128];
    __syncthreads();
    if (tid < 64)
        s[tid] += s[tid + 64];
    __syncthreads();
    if (tid < 32) {
        float sum = s[tid] + s[tid + 32];
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, offset);
        if (tid == 0)
            out[blockIdx.x] = sum;
    }
}

int main()
{
    const int n = 1 << 22;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n / 256 * sizeof(float));
    interleaved<<<n / 256, 256>>>(in, out);
    packed<<<n / 256, 256>>>(in, out);
    sequential<<<n / 256, 256>>>(in, out);
    unrolled<<<n / 256, 256>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
