// The guard belongs on the work, not on the barrier.
__global__ void guarded(float *data)
{
    __shared__ float s[128];
    s[threadIdx.x] = data[blockIdx.x * 128 + threadIdx.x];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2)
        if (threadIdx.x < half) {
            s[threadIdx.x] += s[threadIdx.x + half];
            __syncthreads();  // expect: CL302 "does not come"
        }
    data[blockIdx.x * 128 + threadIdx.x] = s[threadIdx.x];
}

__global__ void outside(float *data)
{
    __shared__ float s[128];
    s[threadIdx.x] = data[blockIdx.x * 128 + threadIdx.x];
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half)
            s[threadIdx.x] += s[threadIdx.x + half];
        __syncthreads();
    }
    data[blockIdx.x * 128 + threadIdx.x] = s[threadIdx.x];
}

void run(float *data)
{
    guarded<<<64, 128>>>(data);
    outside<<<64, 128>>>(data);
}
