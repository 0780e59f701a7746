#include <cstdint>

__global__ void scale(float *x, int rows, int cols)
{
    int row = blockIdx.x;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        x[row * cols + c] *= 2.0f;  // expect: CL111 "`row * cols` is 2457591808"
}

int main()
{
    const int rows = 300000, cols = 8192;
    float *x;
    cudaMalloc(&x, (size_t)rows * cols * sizeof(float));
    scale<<<rows, 256>>>(x, rows, cols);
}
