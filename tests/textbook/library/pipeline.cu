// A class that loads batches while the GPU works, and launches that can't work.
#include <cuda_runtime.h>
#include <vector>

__global__ void normalize(float *x, int n, float mean)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] -= mean;
}

__global__ void add_matrices(float *x, const float *y, int rows, int cols)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols)
        x[row * cols + col] += y[row * cols + col];
}

__global__ void sort_piece(float *x, int n)
{
    extern __shared__ float keys[];
    int first = blockIdx.x * 24576;
    for (int i = threadIdx.x; i < 24576; i += blockDim.x)
        keys[i] = first + i < n ? x[first + i] : 0.0f;
    __syncthreads();
    for (int i = threadIdx.x; i < 24576; i += blockDim.x)
        if (first + i < n)
            x[first + i] = keys[24575 - i];
}

__global__ void filter(const float *x, float *y, const float *table, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * table[i % 64];
}

__constant__ float curve[256];

__global__ void grade(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * curve[i % 256];  // expect: CL110
}

class Loader {
public:
    Loader(int batch) : batch_(batch)
    {
        cudaStreamCreate(&stream_);
        cudaMalloc(&device_, batch * sizeof(float));
    }

    void run(const float *source, int batches, float mean)
    {
        float *staging = new float[batch_];
        for (int b = 0; b < batches; b++) {
            cudaStreamSynchronize(stream_);
            for (int i = 0; i < batch_; i++)
                staging[i] = source[b * batch_ + i];
            // expect: CL703
            cudaMemcpyAsync(device_, staging, batch_ * sizeof(float), cudaMemcpyHostToDevice, stream_);
            normalize<<<(batch_ + 255) / 256, 256, 0, stream_>>>(device_, batch_, mean);
        }
        cudaStreamSynchronize(stream_);
        delete[] staging;
    }

private:
    int batch_;
    float *device_;
    cudaStream_t stream_;
};

void load(const float *source, int batch, int batches, float mean)
{
    Loader loader(batch);
    loader.run(source, batches, mean);
}

void add(float *x, const float *y, int rows, int cols)
{
    dim3 block(64, 32);
    dim3 grid((cols + block.x - 1) / block.x, (rows + block.y - 1) / block.y);
    add_matrices<<<grid, block>>>(x, y, rows, cols);  // expect: CL502 "2048"
}

void sort_pieces(float *x, int n)
{
    const size_t bytes = 24576 * sizeof(float);
    sort_piece<<<(n + 24575) / 24576, 256, bytes>>>(x, n);  // expect: CL202
}

void apply(const float *x, float *y, int n)
{
    grade<<<(n + 255) / 256, 256>>>(x, y, n);
}
