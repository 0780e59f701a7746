// Rows become columns: the store walks down a column, then goes through a tile.

__global__ void direct(float *out, const float *in, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    out[x * n + y] = in[y * n + x];
}

__global__ void by_tiles(float *out, const float *in, int n)
{
    __shared__ float tile[32][33];
    tile[threadIdx.y][threadIdx.x] = in[(blockIdx.y * 32 + threadIdx.y) * n + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    out[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

void run(float *out, const float *in)
{
    direct<<<dim3(64, 64), dim3(32, 32)>>>(out, in, 2048);
    by_tiles<<<dim3(64, 64), dim3(32, 32)>>>(out, in, 2048);
}
