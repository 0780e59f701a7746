#include <cuda_pipeline.h>

__global__ void reversed(const float *in, float *out)
{
    __shared__ float tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[i], sizeof(float));
    __pipeline_commit();
    __syncthreads();
    out[i] = tile[255 - threadIdx.x];  // expect: CL309 "before another thread's asynchronous copy to it (line 7) is waited for"
}

void run(const float *in, float *out)
{
    reversed<<<1024, 256>>>(in, out);
}
