void upload(const float *h, int n)
{
    float *d;
    cudaMalloc(&d, n * sizeof(float));
    cudaMemcpy(d, h, n, cudaMemcpyHostToDevice);  // expect: CL803 "n bytes of n * 4"
    cudaMemcpy(d, h, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaFree(d);
}
