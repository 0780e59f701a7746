#pragma once
#pragma clang force_cuda_host_device begin
#define __CUDA_ALIGN__(n) __align__(n)
#define __CUDA_BF16_H__
#define __CUDA_BF16_TYPES_EXIST__
#define _T __nv_bfloat16
#define _T2 __nv_bfloat162
#define _RAW __nv_bfloat16_raw
#define _RAW2 __nv_bfloat162_raw
#include "_cudalint/half_class.h"
#include "_cudalint/half_functions.h"
#undef _T
#undef _T2
#undef _RAW
#undef _RAW2
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)
__nv_bfloat16 __float2bfloat16(float);
__nv_bfloat16 __float2bfloat16_rn(float);
__nv_bfloat16 __float2bfloat16_rz(float);
__nv_bfloat16 __float2bfloat16_ru(float);
__nv_bfloat16 __float2bfloat16_rd(float);
__nv_bfloat16 __double2bfloat16(double);
__nv_bfloat162 __float2bfloat162_rn(float);
__nv_bfloat162 __floats2bfloat162_rn(float, float);
__nv_bfloat162 __float22bfloat162_rn(float2);
float __bfloat162float(__nv_bfloat16);
float2 __bfloat1622float2(__nv_bfloat162);
float __low2float(__nv_bfloat162);
float __high2float(__nv_bfloat162);
__nv_bfloat16 __low2bfloat16(__nv_bfloat162);
__nv_bfloat16 __high2bfloat16(__nv_bfloat162);
__nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16);
__nv_bfloat162 __halves2bfloat162(__nv_bfloat16, __nv_bfloat16);
__nv_bfloat162 make_bfloat162(__nv_bfloat16, __nv_bfloat16);
short __bfloat16_as_short(__nv_bfloat16);
unsigned short __bfloat16_as_ushort(__nv_bfloat16);
__nv_bfloat16 __short_as_bfloat16(short);
__nv_bfloat16 __ushort_as_bfloat16(unsigned short);
__nv_bfloat16 __int2bfloat16_rn(int);
__nv_bfloat16 __uint2bfloat16_rn(unsigned);
int __bfloat162int_rn(__nv_bfloat16);
int __bfloat162int_rz(__nv_bfloat16);
unsigned __bfloat162uint_rz(__nv_bfloat16);
#pragma clang force_cuda_host_device end
