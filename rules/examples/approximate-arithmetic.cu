__global__ void waves(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], sum = 0;
    for (int k = 0; k < n; k++)
        sum += sinf(x * k);  // expect: CL605 "`sinf` in a loop"
    out[i] = sum;
}

__global__ void approximate(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = in[i], sum = 0;
    for (int k = 0; k < n; k++)
        sum += __sinf(x * k);
    out[i] = sum;
}

void run(const float *in, float *out, int n)
{
    waves<<<64, 256>>>(in, out, n);
    approximate<<<64, 256>>>(in, out, n);
}
