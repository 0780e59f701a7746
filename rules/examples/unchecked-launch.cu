__global__ void work(float *a) { a[blockIdx.x * 256 + threadIdx.x] += 1.0f; }

void run(float *d)
{
    work<<<64, 256>>>(d);  // expect: CL807 "asks whether `work` could be launched"
}
