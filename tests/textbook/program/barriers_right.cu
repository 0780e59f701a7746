// Barriers in the wrong place, and one too many.
#include <cstdio>

__global__ void early_return(const float *in, float *out, int n)
{
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0.0f;
    __syncthreads();
    if (threadIdx.x > 0 && threadIdx.x < 255 && i < n)
        out[i] = s[threadIdx.x - 1] + s[threadIdx.x + 1];
}

__global__ void in_a_branch(float *x)
{
    __shared__ float s[256];
    int tid = threadIdx.x;
    s[tid] = x[blockIdx.x * 256 + tid];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (tid < step) {
            s[tid] += s[tid + step];
        }
        __syncthreads();
    }
    if (tid == 0)
        x[blockIdx.x * 256] = s[0];
}

__global__ void one_too_many(const float *in, float *out)
{
    __shared__ float s[256];
    int tid = threadIdx.x, i = blockIdx.x * 256 + tid;
    s[tid] = in[i];
    __syncthreads();
    for (int step = 0; step < 200; step++) {
        float left = s[(tid + 255) % 256], right = s[(tid + 1) % 256];
        __syncthreads();
        s[tid] = 0.5f * (left + right);
        __syncthreads();
    }
    out[i] = s[tid];
}

int main()
{
    const int n = 100000;
    float *in, *out;
    cudaMalloc(&in, 100096 * sizeof(float));
    cudaMalloc(&out, 100096 * sizeof(float));
    early_return<<<(n + 255) / 256, 256>>>(in, out, n);
    in_a_branch<<<100096 / 256, 256>>>(in);
    one_too_many<<<100096 / 256, 256>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
