#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
__global__ void k(half* h, __nv_bfloat16* b, float* x)
{
    h[0] = __hadd(h[1], h[2]) * h[3];
    h[1] = x[0];
    h[2] += h[3];
    half2 pair = __float2half2_rn(1.f);
    pair = __hfma2(pair, pair, pair);
    pair.x = h[4] > h[5] ? h[4] : (half)1;
    atomicAdd((half2*)h, pair);
    b[0] = __float2bfloat16(1.f);
    x[1] = __half2float(h[0]) + (float)b[0] + __low2float(pair);
    half other = __shfl_xor_sync(~0u, h[0], 1);
    __nv_fp8_e4m3 small(x[2]);
    x[3] = float(small) + float(other);
}
