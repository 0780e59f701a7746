// 40 KB for each block: four of them fit on an SM, whatever the number of their threads.
__global__ void gather(const float *table, const int *index, float *out)
{
    __shared__ float copy[10240];
    for (int k = threadIdx.x; k < 10240; k += blockDim.x)
        copy[k] = table[k];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = copy[index[i]];
}

void run(const float *table, const int *index, float *out)
{
    gather<<<1 << 13, 128>>>(table, index, out);  // expect: CL503
    gather<<<1 << 11, 512>>>(table, index, out);
}
