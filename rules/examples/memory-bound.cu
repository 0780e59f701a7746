__global__ void add(const float *a, const float *b, float *out)  // expect: CL601 "0.08 floating-point operations"
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = a[i] + b[i];
}

void run(const float *a, const float *b, float *out)
{
    add<<<262144, 256>>>(a, b, out);
}
