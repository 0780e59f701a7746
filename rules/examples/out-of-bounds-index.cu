__global__ void differences(const float *in, float *out)
{
    __shared__ float s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = s[threadIdx.x + 1] - s[threadIdx.x];  // expect: CL107
}

// One more element, which one more load fills.
__global__ void with_neighbour(const float *in, float *out)
{
    __shared__ float s[256 + 1];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = in[i];
    if (threadIdx.x == 255)
        s[256] = in[i + 1];
    __syncthreads();
    out[i] = s[threadIdx.x + 1] - s[threadIdx.x];
}

void run(const float *in, float *out, int blocks)
{
    differences<<<blocks, 256>>>(in, out);
    with_neighbour<<<blocks, 256>>>(in, out);
}
