#include <stdlib.h>

void fill(float *host, int batch);

void upload(float *device, size_t bytes, int batches, cudaStream_t stream)
{
    float *host = (float *)malloc(bytes);
    for (int i = 0; i < batches; i++) {
        cudaStreamSynchronize(stream);
        fill(host, i);
        cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream);  // expect: CL703 "`host` is pageable memory"
    }
    cudaStreamSynchronize(stream);
    free(host);
}
