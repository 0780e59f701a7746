// Each thread keeps the eight smallest numbers of a column that it has seen.
__global__ void smallest(const float *in, float *out, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float best[8] = {1e30f, 1e30f, 1e30f, 1e30f, 1e30f, 1e30f, 1e30f, 1e30f};
    for (int row = 0; row < rows; row++) {
        float value = in[row * columns + column];
        int j = 7;
        while (j > 0 && best[j - 1] > value) {  // expect: CL606 "is in local memory"
            best[j] = best[j - 1];
            j--;
        }
        if (value < best[j]) best[j] = value;
    }
    for (int k = 0; k < 8; k++)
        out[k * columns + column] = best[k];
}

// Here each index is a constant: nvcc keeps all eight in registers.
__global__ void smallest_in_registers(const float *in, float *out, int rows, int columns)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    float best[8] = {1e30f, 1e30f, 1e30f, 1e30f, 1e30f, 1e30f, 1e30f, 1e30f};
    for (int row = 0; row < rows; row++) {
        float value = in[row * columns + column];
#pragma unroll
        for (int j = 0; j < 8; j++) {
            float lower = fminf(best[j], value);
            value = fmaxf(best[j], value);
            best[j] = lower;
        }
    }
    for (int k = 0; k < 8; k++)
        out[k * columns + column] = best[k];
}

void run(const float *in, float *out)
{
    smallest<<<4096 / 128, 128>>>(in, out, 4096, 4096);
    smallest_in_registers<<<4096 / 128, 128>>>(in, out, 4096, 4096);
}
