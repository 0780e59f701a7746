// Sums and means of the rows of a matrix.
#include <cstdio>
#include <cstdlib>

__global__ void row_sums(const float *x, float *sums, int n, int m)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= n)
        return;
    float sum = 0.0f;
    for (int j = lane; j < m; j += 32)
        sum += x[row * m + j];
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (lane == 0)
        sums[row] = sum;
}

// The columns are what neighbouring threads have to divide among each other.
__global__ void subtract_mean(float *x, const float *means, int n, int m)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && col < m)
        x[row * m + col] -= means[row];
}

int main()
{
    const int n = 4096, m = 1024;
    float *x, *sums;
    cudaMalloc(&x, n * m * sizeof(float));
    cudaMalloc(&sums, n * sizeof(float));
    cudaMemset(x, 0, n * m * sizeof(float));
    row_sums<<<n / 8, 256>>>(x, sums, n, m);
    subtract_mean<<<dim3(m / 16, n / 16), dim3(16, 16)>>>(x, sums, n, m);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(sums);
    return 0;
}
