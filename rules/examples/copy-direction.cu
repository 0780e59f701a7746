void download(float *h, int n)
{
    float *d;
    cudaMalloc(&d, n * sizeof(float));
    cudaMemcpy(h, d, n * sizeof(float), cudaMemcpyHostToDevice);  // expect: CL802 "and its source `d` is memory of the device"
    cudaMemcpy(h, d, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d);
}
