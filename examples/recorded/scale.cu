// Scales rows and columns of a matrix whose size stands in a file. No source says how long a row is, so that nobody can
// tell from this text what the strided accesses cost. cudalint-launches.json beside it was recorded on an H200:
//
//     nvcc -O3 -arch=sm_90 scale.cu -o scale
//     echo 2048 1000 > size.txt && cudalint record --time -- ./scale size.txt
#include <cstdio>

__global__ void scale(float *data, int count, int stride, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        data[i * stride] *= factor;
}

int main(int argc, char **argv)
{
    int rows = 0, columns = 0;
    FILE *file = argc > 1 ? fopen(argv[1], "r") : nullptr;
    if (!file || fscanf(file, "%d %d", &rows, &columns) != 2)
        return 1;
    fclose(file);
    float *data;
    cudaMalloc(&data, sizeof(float) * rows * columns);
    for (int row = 0; row < rows; ++row)
        scale<<<(columns + 255) / 256, 256>>>(data + row * columns, columns, 1, 0.5f);
    for (int column = 0; column < columns; ++column)
        scale<<<(rows + 255) / 256, 256>>>(data + column, rows, columns, 2.0f);
    cudaDeviceSynchronize();
    cudaFree(data);
}
