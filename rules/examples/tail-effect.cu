__global__ void sum(const float *in, float *out, int n)
{
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        s += in[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

void run(const float *in, float *out)
{
    sum<<<64, 256>>>(in, out, 1 << 24);  // expect: CL504 "64 blocks for the 108 SMs"
    sum<<<8 * 108, 256>>>(in, out, 1 << 24);
}
