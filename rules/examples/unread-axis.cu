__global__ void scale(const float *in, float *out, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    out[column] = 2.0f * in[column];
}

__global__ void scale_rows(const float *in, float *out, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    out[blockIdx.y * columns + column] = 2.0f * in[blockIdx.y * columns + column];
}

void run(const float *in, float *out)
{
    scale<<<dim3(64, 48), 256>>>(in, out, 16384);  // expect: CL507 "all 48 blocks along y"
    scale_rows<<<dim3(64, 48), 256>>>(in, out, 16384);
}
