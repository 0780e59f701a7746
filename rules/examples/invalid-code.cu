__global__ void scale(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x  // expect: CL904 "syntax error"
    if (i < n)
        a[i] *= 2;
}

void run(float *a, int n)
{
    scale<<<(n + 255) / 256, 256>>>(a, n);
}
