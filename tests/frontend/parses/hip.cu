// HIP for NVIDIA's platform.
#include <hip/hip_runtime.h>

__global__ void fill(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef __HIP_PLATFORM_NVIDIA__
    float v = __shfl_sync(0xffffffff, x[i], 0);
#else
    float v = __shfl(x[i], 0);
#endif
    if (i < n)
        x[i] = v;
}

int main()
{
    float *x;
    hipStream_t stream;
    hipDeviceProp_t properties;
    if (hipStreamCreate(&stream) != hipSuccess || hipGetDeviceProperties(&properties, 0) != hipSuccess)
        return 1;
    hipMalloc((void **)&x, 4096 * sizeof(float));
    hipMemsetAsync(x, 0, 4096 * sizeof(float), stream);
    hipLaunchKernelGGL(fill, dim3(16), dim3(256), 0, stream, x, 4096);
    hipError_t error = hipDeviceSynchronize();
    hipFree(x);
    return error != hipSuccess;
}
