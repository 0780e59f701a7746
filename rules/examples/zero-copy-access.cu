__global__ void sums(const float *in, float *out)
{
    float sum = 0.0f;
    for (int k = 0; k < 16; k++)
        sum += in[k * 256 + threadIdx.x];  // expect: CL704 "comes to each element 64 times"
    out[blockIdx.x * 256 + threadIdx.x] = sum;
}

void run(float *out)
{
    float *host, *device;
    cudaHostAlloc(&host, 16384, cudaHostAllocMapped);
    cudaHostGetDevicePointer(&device, host, 0);
    sums<<<64, 256>>>(device, out);
}
