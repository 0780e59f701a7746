__global__ void wait(const int *stop, float *out)
{
    while (*stop == 0)  // expect: CL309 "by a plain load"
        ;
    out[threadIdx.x] = 1;
}

void run(const int *stop, float *out)
{
    wait<<<1, 32>>>(stop, out);
}
