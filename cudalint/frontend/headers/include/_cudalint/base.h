// Function and variable attributes, version macros and the few types that everything else needs.
#pragma once

#define __CUDACC__ 1
#define __NVCC__ 1
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 8
#define __CUDACC_VER_BUILD__ 0
#define __CUDA_API_VER_MAJOR__ 12
#define __CUDA_API_VER_MINOR__ 8
#define CUDART_VERSION 12080
#define CUDA_VERSION 12080
#define CUDART_CB
#define CUDARTAPI
#define CUDA_CB
#define CUDAAPI
#define CUDARTAPI_CDECL
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1

// The guards of the toolkit's headers: public code tests them, and a toolkit header that is found
// through the user's -I must not declare again what the prelude has declared.
#define __HOST_DEFINES_H__
#define __DEVICE_TYPES_H__
#define __BUILTIN_TYPES_H__
#define __DRIVER_TYPES_H__
#define __SURFACE_TYPES_H__
#define __TEXTURE_TYPES_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#define __LIBRARY_TYPES_H__
#define __CHANNEL_DESCRIPTOR_H__
#define __COMMON_FUNCTIONS_H__
#define __CUDA_RUNTIME_API_H__
#define __CUDA_RUNTIME_H__
#define __CUDA_DEVICE_RUNTIME_API_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_FUNCTIONS_H__
#define __DEVICE_ATOMIC_FUNCTIONS_H__
#define __MATH_FUNCTIONS_H__

/// Whether the code is for a GPU with what no other GPU has: `__CUDA_ARCH_HAS_FEATURE__(SM90_ALL)`.
#define __CUDA_ARCH_HAS_FEATURE__(_FEATURE) __CUDA_ARCH_FEAT_##_FEATURE
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device, annotate("cudalint.managed")))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __inline_hint__
#define __align__(n) __attribute__((aligned(n), annotate("cudalint.align", n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define __nv_pure__
#define __thread__ __thread

// libclang hides the arguments of some attributes, and does not know others at all: an annotation
// with the same arguments makes them readable, and evaluable per template instantiation.
// How many arguments there are comes first: those that depend on parameters of a template are hidden all the same.
#define _CUDALINT_FOURTH(a, b, c, d, ...) d
#define _CUDALINT_COUNT(...) _CUDALINT_FOURTH(__VA_ARGS__, 3, 2, 1, 0)
#define __launch_bounds__(...)                                                                              \
    __attribute__((launch_bounds(__VA_ARGS__),                                                              \
                   annotate("cudalint.launch_bounds", _CUDALINT_COUNT(__VA_ARGS__), __VA_ARGS__)))
#define __cluster_dims__(...) __attribute__((annotate("cudalint.cluster_dims", _CUDALINT_COUNT(__VA_ARGS__), __VA_ARGS__)))
#define __block_size__(...) __attribute__((annotate("cudalint.block_size", __VA_ARGS__)))
#define __maxnreg__(...) __attribute__((annotate("cudalint.maxnreg", __VA_ARGS__)))
#define __grid_constant__ __attribute__((annotate("cudalint.grid_constant")))

// Stands for `__shared__` where clang does not take it for what its class constructs.
#define _shared_in __attribute__((annotate("cudalint.shared")))
// Stands for `alignas` behind an attribute, where clang does not take it.
#define _alnas_ _Alignas

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#ifndef NULL
#define NULL __null
#endif

namespace _cudalint {
/// Keeps an argument out of template deduction, so that `atomicAdd(&unsigned_counter, 1)` converts the 1.
template <class _T> struct identity { typedef _T type; };
template <class _T> using same = typename identity<_T>::type;

template <bool Condition, class _T> struct enable {};
template <class _T> struct enable<true, _T> { typedef _T type; };

template <class _T> struct is_integer { static constexpr bool value = false; };
#define _CUDALINT_INTEGER(_T) template <> struct is_integer<_T> { static constexpr bool value = true; };
_CUDALINT_INTEGER(bool)
_CUDALINT_INTEGER(char)
_CUDALINT_INTEGER(signed char)
_CUDALINT_INTEGER(unsigned char)
_CUDALINT_INTEGER(short)
_CUDALINT_INTEGER(unsigned short)
_CUDALINT_INTEGER(int)
_CUDALINT_INTEGER(unsigned)
_CUDALINT_INTEGER(long)
_CUDALINT_INTEGER(unsigned long)
_CUDALINT_INTEGER(long long)
_CUDALINT_INTEGER(unsigned long long)
#undef _CUDALINT_INTEGER
/// The overloads that <cmath> gives integers: they compute in double.
template <class _T> using if_integer = typename enable<is_integer<_T>::value, double>::type;
}  // namespace _cudalint
