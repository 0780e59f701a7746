__global__ void product(const float *a, const float *b, float *c, int n)
{
    __shared__ float ta[32][32], tb[32][32];
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    for (int k0 = 0; k0 < n; k0 += 32) {
        ta[threadIdx.y][threadIdx.x] = a[row * n + k0 + threadIdx.x];
        tb[threadIdx.y][threadIdx.x] = b[(k0 + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < 32; k++)
            sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];  // expect: CL604 "156 in TF32, 8 times as many"
        __syncthreads();
    }
    c[row * n + column] = sum;
}

void run(const float *a, const float *b, float *c)
{
    product<<<dim3(64, 64), dim3(32, 32)>>>(a, b, c, 2048);
}
