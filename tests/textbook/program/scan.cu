// Running sums of a block.
#include <cstdio>

__global__ void hillis_steele(const float *in, float *out)
{
    __shared__ float s[512];
    int tid = threadIdx.x;
    s[tid] = in[blockIdx.x * 512 + tid];
    __syncthreads();
    for (int step = 1; step < 512; step *= 2) {
        if (tid >= step)
            s[tid] += s[tid - step];  // expect: CL301
        __syncthreads();
    }
    out[blockIdx.x * 512 + tid] = s[tid];
}

#define AT(i) (i)

__global__ void blelloch(const float *in, float *out)
{
    __shared__ float s[512 + 16];
    int tid = threadIdx.x, first = blockIdx.x * 512;
    s[AT(tid)] = in[first + tid];
    s[AT(tid + 256)] = in[first + tid + 256];
    int offset = 1;
    for (int d = 256; d > 0; d /= 2) {
        __syncthreads();
        if (tid < d) {
            int a = offset * (2 * tid + 1) - 1, b = offset * (2 * tid + 2) - 1;
            s[AT(b)] += s[AT(a)];  // expect: CL201
        }
        offset *= 2;
    }
    if (tid == 0)
        s[AT(511)] = 0.0f;
    for (int d = 1; d < 512; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (tid < d) {
            int a = offset * (2 * tid + 1) - 1, b = offset * (2 * tid + 2) - 1;
            float t = s[AT(a)];  // expect: CL201
            s[AT(a)] = s[AT(b)];
            s[AT(b)] += t;
        }
    }
    __syncthreads();
    out[first + tid] = s[AT(tid)];
    out[first + tid + 256] = s[AT(tid + 256)];
}

int main()
{
    const int n = 1 << 20;
    float *in, *out;
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
    hillis_steele<<<n / 512, 512>>>(in, out);
    blelloch<<<n / 512, 256>>>(in, out);
    cudaDeviceSynchronize();
    return 0;
}
