#pragma once
#pragma clang force_cuda_host_device begin
#define CUCOMPLEX_H_
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;
#define _CUDALINT_CUCOMPLEX(_C, _T, _S, MAKE)                                                               \
    constexpr _T cuCreal##_S(_C z) { return z.x; }                                                          \
    constexpr _T cuCimag##_S(_C z) { return z.y; }                                                          \
    constexpr _C MAKE(_T re, _T im) { return _C{re, im}; }                                                  \
    constexpr _C cuConj##_S(_C z) { return _C{z.x, -z.y}; }                                                 \
    constexpr _C cuCadd##_S(_C a, _C b) { return _C{a.x + b.x, a.y + b.y}; }                                \
    constexpr _C cuCsub##_S(_C a, _C b) { return _C{a.x - b.x, a.y - b.y}; }                                \
    constexpr _C cuCmul##_S(_C a, _C b) { return _C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }        \
    _C cuCdiv##_S(_C, _C);                                                                                  \
    _T cuCabs##_S(_C);                                                                                      \
    constexpr _C cuCfma##_S(_C a, _C b, _C c) { return cuCadd##_S(cuCmul##_S(a, b), c); }
_CUDALINT_CUCOMPLEX(cuFloatComplex, float, f, make_cuFloatComplex)
_CUDALINT_CUCOMPLEX(cuDoubleComplex, double, , make_cuDoubleComplex)
#undef _CUDALINT_CUCOMPLEX
constexpr cuComplex make_cuComplex(float re, float im) { return cuComplex{re, im}; }
constexpr cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) { return cuDoubleComplex{z.x, z.y}; }
constexpr cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) { return cuFloatComplex{float(z.x), float(z.y)}; }
#pragma clang force_cuda_host_device end
