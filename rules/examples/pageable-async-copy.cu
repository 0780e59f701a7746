#include <stdlib.h>

void upload(float *device, size_t bytes, cudaStream_t stream)
{
    float *host = (float *)malloc(bytes);
    cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream);  // expect: CL703 "`host` is pageable memory"
    cudaStreamSynchronize(stream);
    free(host);
}
