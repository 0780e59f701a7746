// The neighbour may have been replaced already, or not yet.
__global__ void in_place(float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = (a[i] + a[i + 1]) / 2;  // expect: CL305 "race on `a[32]`"
}

__global__ void to_another_array(const float *a, float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    b[i] = (a[i] + a[i + 1]) / 2;
}

void run(float *a, float *b)
{
    in_place<<<64, 256>>>(a);
    to_another_array<<<64, 256>>>(a, b);
}
