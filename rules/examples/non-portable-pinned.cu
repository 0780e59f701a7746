void upload(float *first, float *second, size_t bytes, cudaStream_t stream)
{
    float *host;
    cudaMallocHost(&host, bytes);  // expect: CL705 "`host` is pinned for the current device only"
    cudaSetDevice(0);
    cudaMemcpyAsync(first, host, bytes, cudaMemcpyHostToDevice, stream);
    cudaSetDevice(1);
    cudaMemcpyAsync(second, host, bytes, cudaMemcpyHostToDevice, stream);
}
