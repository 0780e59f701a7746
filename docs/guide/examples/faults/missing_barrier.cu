// The sum of a block as a tree. Without a barrier in the loop, a round reads what the last one may not have written.

__global__ void hasty(float *sums, const float *in)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half)
            s[t] += s[t + half];
    }
    if (t == 0)
        sums[blockIdx.x] = s[0];
}

__global__ void patient(float *sums, const float *in)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = s[0];
}

void run(float *sums, const float *in)
{
    hasty<<<4096, 256>>>(sums, in);
    patient<<<4096, 256>>>(sums, in);
}
