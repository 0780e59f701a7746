__global__ void fill(float *a) { a[blockIdx.x * 256 + threadIdx.x] = 1.0f; }

float run()
{
    float *m;
    cudaMallocManaged(&m, 64 * 256 * sizeof(float));
    fill<<<64, 256>>>(m);
    float sum = m[0];  // expect: CL805 "the host reads `m` while `fill` may use it"
    cudaDeviceSynchronize();
    sum += m[1];
    cudaFree(m);
    return sum;
}
