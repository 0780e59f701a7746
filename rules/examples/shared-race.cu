// The tile is read by other warps than those that stored it.
__global__ void reversed(const float *in, float *out)
{
    __shared__ float tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = in[i];
    out[i] = tile[255 - threadIdx.x];  // expect: CL301 "thread (255, 0, 0) reads it while thread (0, 0, 0) may still write it"
}

__global__ void with_barrier(const float *in, float *out)
{
    __shared__ float tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = tile[255 - threadIdx.x];
}

void run(const float *in, float *out)
{
    reversed<<<64, 256>>>(in, out);
    with_barrier<<<64, 256>>>(in, out);
}
