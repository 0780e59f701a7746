__global__ void blur(float *out, const float *in, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < n)
        out[y * n + x] = in[y * n + x];
}

void run(float *out, const float *in, int n)
{
    dim3 block(64, 32), smaller(32, 32);
    blur<<<dim3((n + 63) / 64, (n + 31) / 32), block>>>(out, in, n);  // expect: CL502 "2048"
    blur<<<dim3((n + 31) / 32, (n + 31) / 32), smaller>>>(out, in, n);
}
