#pragma once
#pragma clang force_cuda_host_device begin
#include "cuda_fp16.h"
#include "cuda_bf16.h"
#define __CUDA_FP8_H__
#define __CUDA_FP8_TYPES_EXIST__
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
#define _CUDALINT_FP8(SUFFIX)                                                                               \
    struct __nv_fp8_##SUFFIX {                                                                              \
        __nv_fp8_storage_t __x;                                                                             \
        __nv_fp8_##SUFFIX() = default;                                                                      \
        template <class _F> explicit __nv_fp8_##SUFFIX(_F);                                                 \
        explicit operator float() const;                                                                    \
        explicit operator double() const;                                                                   \
        explicit operator __half() const;                                                                   \
        explicit operator __nv_bfloat16() const;                                                            \
        explicit operator int() const;                                                                      \
        explicit operator bool() const;                                                                     \
    };                                                                                                      \
    struct __align__(2) __nv_fp8x2_##SUFFIX {                                                               \
        __nv_fp8x2_storage_t __x;                                                                           \
        __nv_fp8x2_##SUFFIX() = default;                                                                    \
        template <class _F> explicit __nv_fp8x2_##SUFFIX(_F);                                               \
        explicit operator float2() const;                                                                   \
        explicit operator __half2() const;                                                                  \
    };                                                                                                      \
    struct __align__(4) __nv_fp8x4_##SUFFIX {                                                               \
        __nv_fp8x4_storage_t __x;                                                                           \
        __nv_fp8x4_##SUFFIX() = default;                                                                    \
        template <class... _F> explicit __nv_fp8x4_##SUFFIX(_F...);                                         \
        explicit operator float4() const;                                                                   \
    };
_CUDALINT_FP8(e4m3)
_CUDALINT_FP8(e5m2)
_CUDALINT_FP8(e8m0)
#undef _CUDALINT_FP8
__nv_fp8_storage_t __nv_cvt_double_to_fp8(double, __nv_saturation_t, __nv_fp8_interpretation_t);
__nv_fp8_storage_t __nv_cvt_float_to_fp8(float, __nv_saturation_t, __nv_fp8_interpretation_t);
__nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw, __nv_saturation_t, __nv_fp8_interpretation_t);
__nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw, __nv_saturation_t, __nv_fp8_interpretation_t);
__nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(double2, __nv_saturation_t, __nv_fp8_interpretation_t);
__nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2, __nv_saturation_t, __nv_fp8_interpretation_t);
__nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw, __nv_saturation_t, __nv_fp8_interpretation_t);
__nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw, __nv_saturation_t, __nv_fp8_interpretation_t);
__half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t, __nv_fp8_interpretation_t);
__half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t, __nv_fp8_interpretation_t);
__nv_fp8_storage_t __nv_cvt_float_to_e8m0(float, __nv_saturation_t, cudaRoundMode);
__nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(float2, __nv_saturation_t, cudaRoundMode);
__nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t);
__nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t);
#pragma clang force_cuda_host_device end
