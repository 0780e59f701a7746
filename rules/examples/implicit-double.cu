__global__ void rescale(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 0.1 + 1.0;  // expect: CL602 "`0.1`, `1.0` are doubles"
}

__global__ void rescale_floats(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 0.1f + 1.0f;
}

void run(const float *in, float *out, int blocks)
{
    rescale<<<blocks, 256>>>(in, out);
    rescale_floats<<<blocks, 256>>>(in, out);
}
