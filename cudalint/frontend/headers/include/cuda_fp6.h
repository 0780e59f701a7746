#pragma once
#pragma clang force_cuda_host_device begin
#include "cuda_fp8.h"
#define __CUDA_FP6_H__
#define __CUDA_FP6_TYPES_EXIST__
typedef unsigned char __nv_fp6_storage_t;
typedef unsigned short __nv_fp6x2_storage_t;
typedef unsigned int __nv_fp6x4_storage_t;
enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 };
#define _CUDALINT_FP6(SUFFIX)                                                                               \
    struct __nv_fp6_##SUFFIX {                                                                              \
        __nv_fp6_storage_t __x;                                                                             \
        __nv_fp6_##SUFFIX() = default;                                                                      \
        template <class _F> explicit __nv_fp6_##SUFFIX(_F);                                                 \
        explicit operator float() const;                                                                    \
        explicit operator __half() const;                                                                   \
    };                                                                                                      \
    struct __align__(2) __nv_fp6x2_##SUFFIX {                                                               \
        __nv_fp6x2_storage_t __x;                                                                           \
        __nv_fp6x2_##SUFFIX() = default;                                                                    \
        template <class _F> explicit __nv_fp6x2_##SUFFIX(_F);                                               \
        explicit operator float2() const;                                                                   \
    };                                                                                                      \
    struct __align__(4) __nv_fp6x4_##SUFFIX {                                                               \
        __nv_fp6x4_storage_t __x;                                                                           \
        __nv_fp6x4_##SUFFIX() = default;                                                                    \
        template <class... _F> explicit __nv_fp6x4_##SUFFIX(_F...);                                         \
        explicit operator float4() const;                                                                   \
    };
_CUDALINT_FP6(e2m3)
_CUDALINT_FP6(e3m2)
#undef _CUDALINT_FP6
#pragma clang force_cuda_host_device end
