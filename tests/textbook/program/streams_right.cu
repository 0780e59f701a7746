// Copies that are to run beside the kernels, and memory of the host that kernels read.
#include <cstdlib>

__global__ void increase(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] += 1.0f;
}

__global__ void column_sums(const float *x, float *sums, int rows, int columns)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int pass = 0; pass < 4; pass++)
        for (int row = 0; row < rows; row++)
            sum += x[row * columns + col];
    sums[col] = sum;
}

int main()
{
    const int n = 1 << 20, batches = 16;
    float *device[2];
    cudaStream_t streams[2];
    for (int i = 0; i < 2; i++) {
        cudaMalloc(&device[i], n * sizeof(float));
        cudaStreamCreate(&streams[i]);
    }
    float *host;
    cudaMallocHost(&host, batches * n * sizeof(float));
    for (int i = 0; i < batches; i++) {
        cudaStream_t stream = streams[i % 2];
        cudaMemcpyAsync(device[i % 2], host + i * n, n * sizeof(float), cudaMemcpyHostToDevice, stream);
        increase<<<(n + 255) / 256, 256, 0, stream>>>(device[i % 2], n);
    }
    cudaDeviceSynchronize();

    const int rows = 1024, columns = 1024;
    float *matrix, *mapped, *sums;
    cudaHostAlloc(&matrix, rows * columns * sizeof(float), cudaHostAllocMapped);
    cudaMalloc(&sums, columns * sizeof(float));
    cudaMalloc(&mapped, rows * columns * sizeof(float));
    cudaMemcpy(mapped, matrix, rows * columns * sizeof(float), cudaMemcpyHostToDevice);
    column_sums<<<columns / 256, 256>>>(mapped, sums, rows, columns);
    cudaDeviceSynchronize();
    return 0;
}
