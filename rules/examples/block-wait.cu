__global__ void prefix(const float *in, volatile float *sum, volatile int *done)
{
    if (threadIdx.x == 0) {
        float before = 0;
        if (blockIdx.x > 0) {
            while (done[blockIdx.x - 1] == 0)  // expect: CL308 "a block with a smaller number has written it"
                ;
            before = sum[blockIdx.x - 1];
        }
        sum[blockIdx.x] = before + in[blockIdx.x];
        __threadfence();
        done[blockIdx.x] = 1;
    }
}

void run(const float *in, volatile float *sum, volatile int *done, int n)
{
    prefix<<<(n + 255) / 256, 256>>>(in, sum, done);
}
