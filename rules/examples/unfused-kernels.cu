__global__ void scale(const float *in, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    out[i] = 2.0f * in[i];
}

__global__ void shift(const float *in, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    out[i] = in[i] + 1.0f;
}

void run(const float *x, float *z)
{
    float *y;
    cudaMalloc(&y, 65536 * sizeof(float));
    scale<<<256, 256>>>(x, y);
    shift<<<256, 256>>>(y, z);  // expect: CL701 "8 bytes less for each thread"
    cudaFree(y);
}
