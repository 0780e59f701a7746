// Products of matrices by tiles, with a barrier forgotten.
#define BLOCK_SIZE 16

__global__ void product_without_first(const float *A, const float *B, float *C, int wA, int wB)
{
    __shared__ float As[BLOCK_SIZE][BLOCK_SIZE], Bs[BLOCK_SIZE][BLOCK_SIZE];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < wA / BLOCK_SIZE; k++) {
        As[ty][tx] = A[(by * BLOCK_SIZE + ty) * wA + k * BLOCK_SIZE + tx];
        Bs[ty][tx] = B[(k * BLOCK_SIZE + ty) * wB + bx * BLOCK_SIZE + tx];
        __syncthreads();
        for (int i = 0; i < BLOCK_SIZE; i++)
            sum += As[ty][i] * Bs[i][tx];
        __syncthreads();
    }
    C[(by * BLOCK_SIZE + ty) * wB + bx * BLOCK_SIZE + tx] = sum;
}

__global__ void product_without_second(const float *A, const float *B, float *C, int wA, int wB)
{
    __shared__ float As[BLOCK_SIZE][BLOCK_SIZE], Bs[BLOCK_SIZE][BLOCK_SIZE];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < wA / BLOCK_SIZE; k++) {
        As[ty][tx] = A[(by * BLOCK_SIZE + ty) * wA + k * BLOCK_SIZE + tx];
        Bs[ty][tx] = B[(k * BLOCK_SIZE + ty) * wB + bx * BLOCK_SIZE + tx];
        __syncthreads();
        for (int i = 0; i < BLOCK_SIZE; i++)
            sum += As[ty][i] * Bs[i][tx];
        __syncthreads();
    }
    C[(by * BLOCK_SIZE + ty) * wB + bx * BLOCK_SIZE + tx] = sum;
}

// For B of K rows and N columns.
__global__ void product_of_any(const float *A, const float *B, float *C, int M, int N, int K)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N)
        return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++)
        sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

