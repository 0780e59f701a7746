__global__ void send(const float *in, float *buffer, int *ready)
{
    buffer[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x == 0) {
        __threadfence_system();
        *(volatile int *)ready = 1;  // expect: CL307 "sets `ready` while other warps of the block may still write `buffer`"
    }
}

void run(const float *in, float *buffer, int *ready)
{
    send<<<1, 256>>>(in, buffer, ready);
}
