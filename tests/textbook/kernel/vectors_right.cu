// Wide loads, and too much shared memory.

__global__ void left_neighbours(const float *x, float4 *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (4 * i + 8 < n)
        y[i] = *(const float4 *)(x + 4 * i + 4);
}

__global__ void unpack_rgb(const unsigned char *rgb, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = reinterpret_cast<const unsigned *>(rgb)[i] & 0xffffffu;
}

__global__ void large_tile(const float *x, float *y)
{
    __shared__ float tile[64][128];
    for (int j = 0; j < 64; j++)
        tile[j][threadIdx.x] = x[j * 128 + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 64; j++)
        y[j * 128 + threadIdx.x] = tile[j][127 - threadIdx.x];
}

__global__ void misspelt(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = 2.0f * x[i];
}
