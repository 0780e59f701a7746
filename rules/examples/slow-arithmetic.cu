__global__ void folded(const float *in, const float *table, float *out, int n, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += table[k % width];  // expect: CL603 "a division of integers by `width`"
    out[i] = in[i] * sum;
}

__global__ void counted(const float *in, const float *table, float *out, int n, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0, at = 0; k < n; k++, at = at + 1 < width ? at + 1 : 0)
        sum += table[at];
    out[i] = in[i] * sum;
}

void run(const float *in, const float *table, float *out, int n, int width)
{
    folded<<<64, 256>>>(in, table, out, n, width);
    counted<<<64, 256>>>(in, table, out, n, width);
}
