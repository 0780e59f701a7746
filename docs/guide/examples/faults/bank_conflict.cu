// The sums of the rows of a tile: each lane reads a row of its own, so that a warp reads a column.

__global__ void in_one_bank(float *sums, const float *in)
{
    __shared__ float tile[32][32];
    for (int row = 0; row < 32; row++)
        tile[row][threadIdx.x] = in[(blockIdx.x * 32 + row) * 32 + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 32; i++)
        sum += tile[threadIdx.x][i];
    sums[blockIdx.x * 32 + threadIdx.x] = sum;
}

__global__ void padded(float *sums, const float *in)
{
    __shared__ float tile[32][33];
    for (int row = 0; row < 32; row++)
        tile[row][threadIdx.x] = in[(blockIdx.x * 32 + row) * 32 + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 32; i++)
        sum += tile[threadIdx.x][i];
    sums[blockIdx.x * 32 + threadIdx.x] = sum;
}

void run(float *sums, const float *in)
{
    in_one_bank<<<8192, 32>>>(sums, in);
    padded<<<8192, 32>>>(sums, in);
}
