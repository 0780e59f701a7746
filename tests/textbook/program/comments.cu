// Comments for the linter, which stay behind when the code moves on.
#include <cstdio>

__global__ void copy(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        // expect: CL901
        y[i] = x[i];  // cudalint: allow(uncoalesced-access) -- columns of a matrix
}

__global__ void gather(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (8 * i < n)
        // expect: CL903 CL101
        y[i] = x[8 * i];  // cudalint: allow(uncoalesced-access)
}

int main()
{
    const int n = 1 << 20;
    float *x, *y;
    cudaMalloc(&x, n * sizeof(float));
    cudaMalloc(&y, n * sizeof(float));
    copy<<<n / 256, 256>>>(x, y, n);
    gather<<<n / 8 / 256, 256>>>(x, y, n);
    cudaDeviceSynchronize();
    return 0;
}
