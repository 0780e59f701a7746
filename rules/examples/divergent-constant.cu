__constant__ float window[256];

__global__ void weigh(const float *in, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    out[i] = in[i] * window[threadIdx.x];  // expect: CL110 "32 different words of `window`"
}

void run(const float *in, float *out)
{
    weigh<<<64, 256>>>(in, out);
}
