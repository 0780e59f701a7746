__global__ void product(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k]  // expect: CL104 "loaded by 32 of its threads"
             * b[k * n + column];  // expect: CL104 "loaded by 32 of its threads"
    c[row * n + column] = sum;
}

void run(const float *a, const float *b, float *c)
{
    product<<<dim3(32, 32), dim3(32, 32)>>>(a, b, c, 1024);
}
