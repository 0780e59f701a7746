// Launches that fail, or that waste what they launch.
#include <cstdio>

__global__ void fill_rows(float *x, int columns, float value)
{
    x[(size_t)blockIdx.x * columns + blockIdx.y * blockDim.x + threadIdx.x] = value;
}

__global__ void add_tiles(float *x, const float *y, int columns)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    x[row * columns + col] += y[row * columns + col];
}

__global__ void iterate(float *x, const float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = y[i];
    for (int k = 0; k < 200; k++)
        v = v * v - 0.5f;
    x[i] = v;
}

__global__ void scale_rows(float *x, int columns, float a)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    x[blockIdx.y * columns + col] *= a;
}

__global__ void reverse(float *x)
{
    extern __shared__ float s[];
    int n = 16384;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s[i] = x[blockIdx.x * n + i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        x[blockIdx.x * n + i] = s[n - 1 - i];
}

int main()
{
    const int rows = 100000, columns = 512, n = rows * columns;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    fill_rows<<<dim3(rows, 2), 256>>>(x, columns, 1.0f);
    add_tiles<<<dim3(columns / 64, rows / 8), dim3(64, 8)>>>(x, y, columns);
    iterate<<<(n + 127) / 128, 128>>>(x, y, n);
    scale_rows<<<dim3(2, 1000), 256>>>(x, columns, 0.5f);
    cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, 16384 * sizeof(float));
    reverse<<<100, 256, 16384 * sizeof(float)>>>(x);
    cudaDeviceSynchronize();
    return 0;
}
