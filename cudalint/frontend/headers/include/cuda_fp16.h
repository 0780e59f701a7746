#pragma once
#pragma clang force_cuda_host_device begin
#define __CUDA_ALIGN__(n) __align__(n)
#define __CUDA_FP16_H__
#define __CUDA_FP16_TYPES_EXIST__
#define _T __half
#define _T2 __half2
#define _RAW __half_raw
#define _RAW2 __half2_raw
#include "_cudalint/half_class.h"
#include "_cudalint/half_functions.h"
#undef _T
#undef _T2
#undef _RAW
#undef _RAW2
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
__half __float2half(float);
__half __double2half(double);
__half2 __float2half2_rn(float);
__half2 __floats2half2_rn(float, float);
__half2 __float22half2_rn(float2);
float __half2float(__half);
float2 __half22float2(__half2);
float __low2float(__half2);
float __high2float(__half2);
__half __low2half(__half2);
__half __high2half(__half2);
__half2 __half2half2(__half);
__half2 __halves2half2(__half, __half);
__half2 make_half2(__half, __half);
__half2 __lows2half2(__half2, __half2);
__half2 __highs2half2(__half2, __half2);
__half2 __low2half2(__half2);
__half2 __high2half2(__half2);
__half2 __lowhigh2highlow(__half2);
short __half_as_short(__half);
unsigned short __half_as_ushort(__half);
__half __short_as_half(short);
__half __ushort_as_half(unsigned short);
#define _CUDALINT_HALF_CONVERT(_M)                                                                          \
    __half __float2half_r##_M(float);                                                                       \
    int __half2int_r##_M(__half);                                                                           \
    unsigned __half2uint_r##_M(__half);                                                                     \
    short __half2short_r##_M(__half);                                                                       \
    unsigned short __half2ushort_r##_M(__half);                                                             \
    long long __half2ll_r##_M(__half);                                                                      \
    unsigned long long __half2ull_r##_M(__half);                                                            \
    __half __int2half_r##_M(int);                                                                           \
    __half __uint2half_r##_M(unsigned);                                                                     \
    __half __short2half_r##_M(short);                                                                       \
    __half __ushort2half_r##_M(unsigned short);                                                             \
    __half __ll2half_r##_M(long long);                                                                      \
    __half __ull2half_r##_M(unsigned long long);
_CUDALINT_HALF_CONVERT(n)
_CUDALINT_HALF_CONVERT(z)
_CUDALINT_HALF_CONVERT(u)
_CUDALINT_HALF_CONVERT(d)
#undef _CUDALINT_HALF_CONVERT
signed char __half2char_rz(__half);
unsigned char __half2uchar_rz(__half);
__half htanh_approx(__half);
#pragma clang force_cuda_host_device end
