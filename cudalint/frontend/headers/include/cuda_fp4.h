#pragma once
#pragma clang force_cuda_host_device begin
#include "cuda_fp8.h"
#define __CUDA_FP4_H__
#define __CUDA_FP4_TYPES_EXIST__
typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
enum __nv_fp4_interpretation_t { __NV_E2M1 };
struct __nv_fp4_e2m1 {
    __nv_fp4_storage_t __x;
    __nv_fp4_e2m1() = default;
    template <class _F> explicit __nv_fp4_e2m1(_F);
    explicit operator float() const;
    explicit operator double() const;
    explicit operator __half() const;
    explicit operator __nv_bfloat16() const;
    explicit operator int() const;
    explicit operator bool() const;
};
struct __nv_fp4x2_e2m1 {
    __nv_fp4x2_storage_t __x;
    __nv_fp4x2_e2m1() = default;
    template <class _F> explicit __nv_fp4x2_e2m1(_F);
    explicit operator float2() const;
    explicit operator __half2() const;
};
struct __align__(2) __nv_fp4x4_e2m1 {
    __nv_fp4x4_storage_t __x;
    __nv_fp4x4_e2m1() = default;
    template <class... _F> explicit __nv_fp4x4_e2m1(_F...);
    explicit operator float4() const;
};
__nv_fp4_storage_t __nv_cvt_double_to_fp4(double, __nv_fp4_interpretation_t, cudaRoundMode);
__nv_fp4_storage_t __nv_cvt_float_to_fp4(float, __nv_fp4_interpretation_t, cudaRoundMode);
__nv_fp4_storage_t __nv_cvt_halfraw_to_fp4(__half_raw, __nv_fp4_interpretation_t, cudaRoundMode);
__nv_fp4_storage_t __nv_cvt_bfloat16raw_to_fp4(__nv_bfloat16_raw, __nv_fp4_interpretation_t, cudaRoundMode);
__nv_fp4x2_storage_t __nv_cvt_double2_to_fp4x2(double2, __nv_fp4_interpretation_t, cudaRoundMode);
__nv_fp4x2_storage_t __nv_cvt_float2_to_fp4x2(float2, __nv_fp4_interpretation_t, cudaRoundMode);
__nv_fp4x2_storage_t __nv_cvt_halfraw2_to_fp4x2(__half2_raw, __nv_fp4_interpretation_t, cudaRoundMode);
__nv_fp4x2_storage_t __nv_cvt_bfloat16raw2_to_fp4x2(__nv_bfloat162_raw, __nv_fp4_interpretation_t, cudaRoundMode);
__half_raw __nv_cvt_fp4_to_halfraw(__nv_fp4_storage_t, __nv_fp4_interpretation_t);
__half2_raw __nv_cvt_fp4x2_to_halfraw2(__nv_fp4x2_storage_t, __nv_fp4_interpretation_t);
#pragma clang force_cuda_host_device end
