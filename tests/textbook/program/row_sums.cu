// Sums and means of the rows of a matrix.
#include <cstdio>
#include <cstdlib>

__global__ void row_sums(const float *x, float *sums, int n, int m)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    float sum = 0.0f;
    for (int j = 0; j < m; j++)
        sum += x[row * m + j];  // expect: CL101 "32 sectors"
    sums[row] = sum;
}

// The columns are what neighbouring threads have to divide among each other.
__global__ void subtract_mean(float *x, const float *means, int n, int m)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && col < m)
        x[row * m + col] -= means[row];  // expect: CL101 "16 sectors"
}

int main()
{
    const int n = 4096, m = 1024;
    float *x, *sums;
    cudaMalloc(&x, n * m * sizeof(float));
    cudaMalloc(&sums, n * sizeof(float));
    cudaMemset(x, 0, n * m * sizeof(float));
    row_sums<<<n / 256, 256>>>(x, sums, n, m);
    subtract_mean<<<dim3(n / 16, m / 16), dim3(16, 16)>>>(x, sums, n, m);
    cudaDeviceSynchronize();
    cudaFree(x);
    cudaFree(sums);
    return 0;
}
