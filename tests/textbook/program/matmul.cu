// Products of matrices, naive and with tiles.
#include <cstdio>
#define T 16

__global__ void naive(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int col = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + col];  // expect: CL101
    c[row * n + col] = sum;
}

__global__ void no_barrier_after_the_loads(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int t = 0; t < n / T; t++) {
        as[ty][tx] = a[row * n + t * T + tx];
        bs[ty][tx] = b[(t * T + ty) * n + col];
        for (int k = 0; k < T; k++)
            sum += as[ty][k] * bs[k][tx];  // expect: CL301
        __syncthreads();
    }
    c[row * n + col] = sum;
}

__global__ void no_barrier_at_the_end(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int t = 0; t < n / T; t++) {
        as[ty][tx] = a[row * n + t * T + tx];
        bs[ty][tx] = b[(t * T + ty) * n + col];  // expect: CL301
        __syncthreads();
        for (int k = 0; k < T; k++)
            sum += as[ty][k] * bs[k][tx];
    }
    c[row * n + col] = sum;
}

int main()
{
    const int n = 1024;
    float *a, *b, *c;
    cudaMalloc(&a, n * n * sizeof(float));
    cudaMalloc(&b, n * n * sizeof(float));
    cudaMalloc(&c, n * n * sizeof(float));
    dim3 block(T, T), grid(n / T, n / T);
    naive<<<grid, block>>>(a, b, c, n);
    no_barrier_after_the_loads<<<grid, block>>>(a, b, c, n);
    no_barrier_at_the_end<<<grid, block>>>(a, b, c, n);
    cudaDeviceSynchronize();
    return 0;
}
