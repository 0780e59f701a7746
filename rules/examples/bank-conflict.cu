// A column of 32 words: all of them are in one bank.
__global__ void column(const float *in, float *out)
{
    __shared__ float t[32][32];
    t[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];  // expect: CL201 "32-way"
}

// Each row is shifted by one bank: the 32 words of a column are in 32 banks.
__global__ void padded(const float *in, float *out)
{
    __shared__ float t[32][33];
    t[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = t[threadIdx.x][threadIdx.y];
}

void run(const float *in, float *out)
{
    column<<<1, dim3(32, 32)>>>(in, out);
    padded<<<1, dim3(32, 32)>>>(in, out);
}
