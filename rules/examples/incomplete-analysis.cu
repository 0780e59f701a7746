#include "sizes.h"

__global__ void scale(float *a)  // expect: CL902 "PITCH"
{
    a[threadIdx.x * PITCH] *= 2;
}

// cudalint: launch(block = 256)
__global__ void complete(float *a)
{
    a[threadIdx.x] *= 2;
}
