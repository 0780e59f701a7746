
__global__ void k(float *c, const float *a, const float *b, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int i = 0; i < n; i++) sum += a[y * n + i] * b[i * n + x];
    c[y * n + x] = sum;
}
int main() { float *x, *y, *z; cudaMalloc(&x, 4 << 20); cudaMalloc(&y, 4 << 20); cudaMalloc(&z, 4 << 20); k<<<dim3(64, 64), dim3(16, 16)>>>(x, y, z, 1024); }
