// A matrix product in three steps. All matrices are n by n, row after row.

// 1. As it comes to mind: x walks down the rows.
__global__ void naive(const float *A, const float *B, float *C, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int column = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += A[row * n + k] * B[k * n + column];
    C[row * n + column] = sum;
}

// 2. x walks along the row.
__global__ void coalesced(const float *A, const float *B, float *C, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += A[row * n + k] * B[k * n + column];
    C[row * n + column] = sum;
}

constexpr int TILE = 32;

// 3. A block keeps a tile of each factor in shared memory, and each value is used 32 times.
__global__ void tiled(const float *A, const float *B, float *C, int n)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int t = 0; t < n; t += TILE) {
        a[ty][tx] = A[row * n + t + tx];
        b[ty][tx] = B[(t + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    C[row * n + column] = sum;
}

void run(const float *A, const float *B, float *C)
{
    constexpr int n = 1024;
    dim3 grid(n / TILE, n / TILE);
    naive<<<grid, dim3(TILE, TILE)>>>(A, B, C, n);
    coalesced<<<grid, dim3(TILE, TILE)>>>(A, B, C, n);
    tiled<<<grid, dim3(TILE, TILE)>>>(A, B, C, n);
}
