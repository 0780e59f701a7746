__global__ void sum(const int *in, int *out)
{
    __shared__ int total;
    atomicAdd(&total, in[blockIdx.x * 256 + threadIdx.x]);  // expect: CL306 "adds to `total`"
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = total;
}

void run(const int *in, int *out)
{
    sum<<<64, 256>>>(in, out);
}
