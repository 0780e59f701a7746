#include <stdlib.h>

__global__ void twice(float *a, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n)
        a[i] *= 2.0f;
}

void run(int n)
{
    float *h = (float *)malloc(n * sizeof(float)), *d;
    twice<<<(n + 255) / 256, 256>>>(h, n);  // expect: CL801 "`twice` is given `h`, which is memory of the host, of `malloc`"
    cudaMalloc(&d, n * sizeof(float));
    twice<<<(n + 255) / 256, 256>>>(d, n);
    cudaFree(d);
    free(h);
}
