// C = A * B, with A of M x K and B of K x N.
#include <cuda_runtime.h>
#define TS 16

__global__ void gemm_naive(const float *A, const float *B, float *C, int M, int N, int K)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N)
        return;
    float sum = 0.0f;
    for (int k = 0; k < K; k++)
        sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}

__global__ void gemm_tiled(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[TS][TS], Bs[TS][TS];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TS + ty, col = blockIdx.x * TS + tx;
    float sum = 0.0f;
    for (int t = 0; t < (K + TS - 1) / TS; t++) {
        As[ty][tx] = row < M && t * TS + tx < K ? A[row * K + t * TS + tx] : 0.0f;
        Bs[ty][tx] = col < N && t * TS + ty < K ? B[(t * TS + ty) * N + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TS; k++)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
}

__global__ void gemm_pitch(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ float As[TS][TS], Bs[TS][TS];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TS + ty, col = blockIdx.x * TS + tx;
    float sum = 0.0f;
    for (int t = 0; t < (K + TS - 1) / TS; t++) {
        int k0 = t * TS;
        As[ty][tx] = 0.0f;
        Bs[ty][tx] = 0.0f;
        if (row < M && k0 + tx < K)
            As[ty][tx] = A[row * K + k0 + tx];
        if (k0 + ty < K && col < N)
            Bs[ty][tx] = B[(k0 + ty) * N + col];
        __syncthreads();
        for (int k = 0; k < TS; k++)
            sum += As[ty][k] * Bs[k][tx];
        __syncthreads();
    }
    if (row < M && col < N)
        C[row * N + col] = sum;
}

enum class Variant { naive, tiled, pitch };

cudaError_t gemm(Variant variant, const float *A, const float *B, float *C, int M, int N, int K, cudaStream_t stream)
{
    dim3 block(TS, TS);
    dim3 tiles((N + TS - 1) / TS, (M + TS - 1) / TS);
    if (variant == Variant::naive)
        gemm_naive<<<tiles, block, 0, stream>>>(A, B, C, M, N, K);
    else if (variant == Variant::tiled)
        gemm_tiled<<<tiles, block, 0, stream>>>(A, B, C, M, N, K);
    else
        gemm_pitch<<<tiles, block, 0, stream>>>(A, B, C, M, N, K);
    return cudaGetLastError();
}
