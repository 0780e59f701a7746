#pragma once
#pragma clang force_cuda_host_device begin
#define CUCOMPLEX_H_
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;
#define _CUDALINT_CUCOMPLEX(C, T, S, MAKE)                                                                  \
    constexpr T cuCreal##S(C z) { return z.x; }                                                             \
    constexpr T cuCimag##S(C z) { return z.y; }                                                             \
    constexpr C MAKE(T re, T im) { return C{re, im}; }                                                      \
    constexpr C cuConj##S(C z) { return C{z.x, -z.y}; }                                                     \
    constexpr C cuCadd##S(C a, C b) { return C{a.x + b.x, a.y + b.y}; }                                     \
    constexpr C cuCsub##S(C a, C b) { return C{a.x - b.x, a.y - b.y}; }                                     \
    constexpr C cuCmul##S(C a, C b) { return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }             \
    C cuCdiv##S(C, C);                                                                                      \
    T cuCabs##S(C);                                                                                         \
    constexpr C cuCfma##S(C a, C b, C c) { return cuCadd##S(cuCmul##S(a, b), c); }
_CUDALINT_CUCOMPLEX(cuFloatComplex, float, f, make_cuFloatComplex)
_CUDALINT_CUCOMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex)
#undef _CUDALINT_CUCOMPLEX
constexpr cuComplex make_cuComplex(float re, float im) { return cuComplex{re, im}; }
constexpr cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return cuDoubleComplex{z.x, z.y}; }
constexpr cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return cuFloatComplex{float(z.x), float(z.y)}; }
#pragma clang force_cuda_host_device end
