// Two changes of the naive transpose that look like a cure and are none.

constexpr int TILE = 32;

// Exchanging x and y makes the store a row, and the load a column.
__global__ void exchanged(const float *in, float *out, int width, int height)
{
    int x = blockIdx.x * TILE + threadIdx.y;
    int y = blockIdx.y * TILE + threadIdx.x;
    if (x < width && y < height)
        out[x * height + y] = in[y * width + x];
}

// The tile is there, but each thread takes back what it put in, and stores it where the naive one did.
__global__ void staged(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x < width && y < height) {
        tile[threadIdx.y][threadIdx.x] = in[y * width + x];
        out[x * height + y] = tile[threadIdx.y][threadIdx.x];
    }
}

void run(const float *in, float *out)
{
    constexpr int width = 2048, height = 1024;
    dim3 block(TILE, TILE), grid(width / TILE, height / TILE);
    exchanged<<<grid, block>>>(in, out, width, height);
    staged<<<grid, block>>>(in, out, width, height);
}
