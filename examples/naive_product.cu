// A matrix product as it comes to mind, with x for rows and y for columns: each lane of a warp is in a row of its own.
#include <cuda_runtime.h>

__global__ void product(const float *a, const float *b, float *c, int m, int n, int k)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n) {
        float sum = 0;
        for (int i = 0; i < k; i++)
            sum += a[row * k + i] * b[i * n + column];
        c[row * n + column] = sum;
    }
}

void run(const float *a, const float *b, float *c, int m, int n, int k)
{
    dim3 grid((m + 31) / 32, (n + 31) / 32);
    product<<<grid, dim3(32, 32)>>>(a, b, c, m, n, k);
}
