#include <curand_kernel.h>
__global__ void k(curandState* states, float* x)
{
    curandState state = states[threadIdx.x];
    curand_init(1234, threadIdx.x, 0, &state);
    x[0] = curand_uniform(&state) + curand_normal(&state) + curand(&state);
    states[threadIdx.x] = state;
}
