// Transposing a matrix, three times: one access of global memory is bad, then one of shared memory, then none.

constexpr int TILE = 32;

// Lanes of a warp store to 32 different rows.
__global__ void naive(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height)
        out[x * height + y] = in[y * width + x];
}

// A tile in shared memory makes both global accesses rows; now it is the tile that is read by column.
__global__ void tiled(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < height && y < width)
        out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

// One more word in each row spreads a column over all banks.
__global__ void padded(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height)
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    if (x < height && y < width)
        out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

void transpose(const float *in, float *out, int width, int height)
{
    dim3 block(TILE, TILE);
    dim3 grid((width + TILE - 1) / TILE, (height + TILE - 1) / TILE);
    naive<<<grid, block>>>(in, out, width, height);
    tiled<<<grid, block>>>(in, out, width, height);
    padded<<<grid, block>>>(in, out, width, height);
}

int main()
{
    constexpr int width = 2048, height = 1024;
    float *in, *out;
    cudaMalloc(&in, width * height * sizeof(float));
    cudaMalloc(&out, width * height * sizeof(float));
    transpose(in, out, width, height);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
