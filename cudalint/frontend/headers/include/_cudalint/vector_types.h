// The built-in vector types with their sizes and alignments, and their make_ functions.
#pragma once

// _A is the alignment of the 2-element vector, _B of the 4-element one; 1 and 3 align like their element.
#define _CUDALINT_VECTOR(_T, NAME, _A, _B)                                                                  \
    struct NAME##1 { _T x; };                                                                               \
    struct __align__(_A) NAME##2 { _T x, y; };                                                              \
    struct NAME##3 { _T x, y, z; };                                                                         \
    struct __align__(_B) NAME##4 { _T x, y, z, w; };                                                        \
    constexpr NAME##1 make_##NAME##1(_T x) { return NAME##1{x}; }                                           \
    constexpr NAME##2 make_##NAME##2(_T x, _T y) { return NAME##2{x, y}; }                                  \
    constexpr NAME##3 make_##NAME##3(_T x, _T y, _T z) { return NAME##3{x, y, z}; }                         \
    constexpr NAME##4 make_##NAME##4(_T x, _T y, _T z, _T w) { return NAME##4{x, y, z, w}; }

_CUDALINT_VECTOR(signed char, char, 2, 4)
_CUDALINT_VECTOR(unsigned char, uchar, 2, 4)
_CUDALINT_VECTOR(short, short, 4, 8)
_CUDALINT_VECTOR(unsigned short, ushort, 4, 8)
_CUDALINT_VECTOR(int, int, 8, 16)
_CUDALINT_VECTOR(unsigned int, uint, 8, 16)
_CUDALINT_VECTOR(long, long, 16, 16)
_CUDALINT_VECTOR(unsigned long, ulong, 16, 16)
_CUDALINT_VECTOR(long long, longlong, 16, 16)
_CUDALINT_VECTOR(unsigned long long, ulonglong, 16, 16)
_CUDALINT_VECTOR(float, float, 8, 16)
_CUDALINT_VECTOR(double, double, 16, 16)
#undef _CUDALINT_VECTOR

// The 4-element vectors of 8-byte elements with their alignment in the name.
#define _CUDALINT_VECTOR4(_T, NAME, _A)                                                                     \
    struct __align__(_A) NAME##4_##_A##a { _T x, y, z, w; };                                                \
    constexpr NAME##4_##_A##a make_##NAME##4_##_A##a(_T x, _T y, _T z, _T w) { return NAME##4_##_A##a{x, y, z, w}; }
_CUDALINT_VECTOR4(long, long, 16)
_CUDALINT_VECTOR4(long, long, 32)
_CUDALINT_VECTOR4(unsigned long, ulong, 16)
_CUDALINT_VECTOR4(unsigned long, ulong, 32)
_CUDALINT_VECTOR4(long long, longlong, 16)
_CUDALINT_VECTOR4(long long, longlong, 32)
_CUDALINT_VECTOR4(unsigned long long, ulonglong, 16)
_CUDALINT_VECTOR4(unsigned long long, ulonglong, 32)
_CUDALINT_VECTOR4(double, double, 16)
_CUDALINT_VECTOR4(double, double, 32)
#undef _CUDALINT_VECTOR4

struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};

extern const __device__ uint3 threadIdx;
extern const __device__ uint3 blockIdx;
extern const __device__ dim3 blockDim;
extern const __device__ dim3 gridDim;
extern const __device__ int warpSize;
