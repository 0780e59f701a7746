__global__ void scale(float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] *= 2;
}

void run(float *data, int n)
{
    scale<<<(n + 99) / 100, 100>>>(data, n);  // expect: CL501 "28 of 128 lanes"
    scale<<<(n + 127) / 128, 128>>>(data, n);
}
