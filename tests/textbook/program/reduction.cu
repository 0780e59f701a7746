// Sums of blocks, from the first try to the last.
#include <cstdio>

__global__ void interleaved(const float *in, float *out)
{
    __shared__ float s[256];
    int tid = threadIdx.x;
    s[tid] = in[blockIdx.x * 256 + tid];
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
        if (tid % (2 * step) == 0)  // expect: CL401
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
    for (int step = 1; step < 256; step *= 2) {
        int i = 2 * step * tid;
        if (i < 256)
            s[i] += s[i + step];  // expect: CL201
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
            s[tid] += s[tid + step];  // expect: CL301
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
        s[tid] += s[tid + 32];
        s[tid] += s[tid + 16];  // expect: CL304
        s[tid] += s[tid + 8];
        s[tid] += s[tid + 4];
        s[tid] += s[tid + 2];
        s[tid] += s[tid + 1];
        if (tid == 0)
            out[blockIdx.x] = s[0];
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
