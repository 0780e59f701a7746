__global__ void product(const float *a, float *c)
{
    extern __shared__ float tile[];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    c[threadIdx.x] = tile[threadIdx.x ^ 1];
}

void fails(const float *a, float *c)
{
    product<<<1, 256, 64 * 1024>>>(a, c);  // expect: CL202 "over 49152"
}
