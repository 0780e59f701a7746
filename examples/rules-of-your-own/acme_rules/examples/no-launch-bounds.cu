__global__ void heavy(float *data)  // expect: ACME101 "256 threads"
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = data[i] * data[i] + 1;
}

__global__ void __launch_bounds__(256) bounded(float *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = data[i] * data[i] + 1;
}

void run(float *data, int blocks)
{
    heavy<<<blocks, 256>>>(data);
    bounded<<<blocks, 256>>>(data);
}
