void download(float *h, int n)
{
    float *d;
    cudaMalloc(&d, n * sizeof(float));
    cudaFree(d);
    cudaMemcpy(h, d, n * sizeof(float), cudaMemcpyDeviceToHost);  // expect: CL804 "`cudaMemcpy` uses `d` after `cudaFree` has released it"
}
