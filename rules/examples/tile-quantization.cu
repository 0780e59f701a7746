__global__ void blur(float *out, const float *in, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n)
        out[y * n + x] = in[y * n + x];
}

void run(float *out, const float *in)
{
    int n = 65;
    blur<<<dim3((n + 31) / 32, (n + 31) / 32), dim3(32, 32)>>>(out, in, n);  // expect: CL505 "54%"
    n = 64;
    blur<<<dim3((n + 31) / 32, (n + 31) / 32), dim3(32, 32)>>>(out, in, n);
}
