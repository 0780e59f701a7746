__global__ void work(float *a, int step) { a[blockIdx.x * 256 + threadIdx.x] += step; }

void run(int steps)
{
    for (int i = 0; i < steps; i++) {
        float *d;
        cudaMalloc(&d, 64 * 256 * sizeof(float));  // expect: CL806 "allocates and releases `d`"
        cudaMemset(d, 0, 64 * 256 * sizeof(float));
        work<<<64, 256>>>(d, i);
        cudaFree(d);
    }
}
