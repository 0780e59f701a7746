// A tiled matrix product, and the same with the second tile stored transposed: an advice that is often given, so that
// the inner loop reads that tile along its rows as well. But what one thread reads over time does not matter. What
// counts is what the lanes of a warp want at one moment: a row of `b` in the plain version, a column in the other.

constexpr int TILE = 16;

__global__ void plain(const float *A, const float *B, float *C, int n)
{
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int t = 0; t < n / TILE; t++) {
        a[ty][tx] = A[row * n + t * TILE + tx];
        b[ty][tx] = B[(t * TILE + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += a[ty][k] * b[k][tx];
        __syncthreads();
    }
    C[row * n + column] = sum;
}

__global__ void transposed(const float *A, const float *B, float *C, int n)
{
    __shared__ float a[TILE][TILE];
    __shared__ float b[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, column = blockIdx.x * TILE + tx;
    float sum = 0;
    for (int t = 0; t < n / TILE; t++) {
        a[ty][tx] = A[row * n + t * TILE + tx];
        b[tx][ty] = B[(t * TILE + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += a[ty][k] * b[tx][k];
        __syncthreads();
    }
    C[row * n + column] = sum;
}

int main()
{
    constexpr int n = 1024;
    float *A, *B, *C;
    cudaMalloc(&A, n * n * sizeof(float));
    cudaMalloc(&B, n * n * sizeof(float));
    cudaMalloc(&C, n * n * sizeof(float));
    dim3 block(TILE, TILE), grid(n / TILE, n / TILE);
    plain<<<grid, block>>>(A, B, C, n);
    transposed<<<grid, block>>>(A, B, C, n);
    cudaDeviceSynchronize();
    cudaFree(A);
    cudaFree(B);
    cudaFree(C);
}
