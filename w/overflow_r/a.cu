
__global__ void k(float *x, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < cols) x[(long)rows * 0 + i + rows * cols] = 1.0f;
}
int main() { float *x; cudaMalloc(&x, 4l * 70000 * 70000); k<<<274, 256>>>(x, 70000, 70000); }
