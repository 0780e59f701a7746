#pragma once
#pragma clang force_cuda_host_device begin
#include "_cudalint/base.h"

#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
typedef float float_t;
typedef double double_t;

// Functions of one, two and three floating-point arguments; each has a double, a float, an ...f form, and
// one that takes integers as <cmath> does.
#define _CUDALINT_MATH1(_F)                                                                                 \
    extern "C" double _F(double);                                                                           \
    extern "C" float _F##f(float);                                                                          \
    extern "C" long double _F##l(long double);                                                              \
    float _F(float);                                                                                        \
    template <class _T> _cudalint::if_integer<_T> _F(_T);
#define _CUDALINT_MATH2(_F)                                                                                 \
    extern "C" double _F(double, double);                                                                   \
    extern "C" float _F##f(float, float);                                                                   \
    float _F(float, float);                                                                                 \
    double _F(double, float);                                                                               \
    double _F(float, double);                                                                               \
    template <class _T> _cudalint::if_integer<_T> _F(_T, double);                                           \
    template <class _T> _cudalint::if_integer<_T> _F(double, _T);                                           \
    template <class _T> _cudalint::if_integer<_T> _F(_T, float);                                            \
    template <class _T> _cudalint::if_integer<_T> _F(float, _T);                                            \
    template <class _T, class _U> typename _cudalint::enable<_cudalint::is_integer<_U>::value, _cudalint::if_integer<_T>>::type _F(_T, _U);
#define _CUDALINT_MATH3(_F)                                                                                 \
    extern "C" double _F(double, double, double);                                                           \
    extern "C" float _F##f(float, float, float);                                                            \
    float _F(float, float, float);
_CUDALINT_MATH1(sin)
_CUDALINT_MATH1(cos)
_CUDALINT_MATH1(tan)
_CUDALINT_MATH1(asin)
_CUDALINT_MATH1(acos)
_CUDALINT_MATH1(atan)
_CUDALINT_MATH1(sinh)
_CUDALINT_MATH1(cosh)
_CUDALINT_MATH1(tanh)
_CUDALINT_MATH1(asinh)
_CUDALINT_MATH1(acosh)
_CUDALINT_MATH1(atanh)
_CUDALINT_MATH1(exp)
_CUDALINT_MATH1(exp2)
_CUDALINT_MATH1(exp10)
_CUDALINT_MATH1(expm1)
_CUDALINT_MATH1(log)
_CUDALINT_MATH1(log2)
_CUDALINT_MATH1(log10)
_CUDALINT_MATH1(log1p)
_CUDALINT_MATH1(logb)
_CUDALINT_MATH1(sqrt)
_CUDALINT_MATH1(rsqrt)
_CUDALINT_MATH1(cbrt)
_CUDALINT_MATH1(rcbrt)
_CUDALINT_MATH1(fabs)
_CUDALINT_MATH1(floor)
_CUDALINT_MATH1(ceil)
_CUDALINT_MATH1(trunc)
_CUDALINT_MATH1(round)
_CUDALINT_MATH1(rint)
_CUDALINT_MATH1(nearbyint)
_CUDALINT_MATH1(erf)
_CUDALINT_MATH1(erfc)
_CUDALINT_MATH1(erfinv)
_CUDALINT_MATH1(erfcinv)
_CUDALINT_MATH1(erfcx)
_CUDALINT_MATH1(normcdf)
_CUDALINT_MATH1(normcdfinv)
_CUDALINT_MATH1(lgamma)
_CUDALINT_MATH1(tgamma)
_CUDALINT_MATH1(sinpi)
_CUDALINT_MATH1(cospi)
_CUDALINT_MATH1(j0)
_CUDALINT_MATH1(j1)
_CUDALINT_MATH1(y0)
_CUDALINT_MATH1(y1)
_CUDALINT_MATH1(cyl_bessel_i0)
_CUDALINT_MATH1(cyl_bessel_i1)
_CUDALINT_MATH2(pow)
_CUDALINT_MATH2(fmod)
_CUDALINT_MATH2(atan2)
_CUDALINT_MATH2(hypot)
_CUDALINT_MATH2(rhypot)
_CUDALINT_MATH2(copysign)
_CUDALINT_MATH2(fmin)
_CUDALINT_MATH2(fmax)
_CUDALINT_MATH2(fdim)
_CUDALINT_MATH2(remainder)
_CUDALINT_MATH2(nextafter)
_CUDALINT_MATH3(fma)
_CUDALINT_MATH3(norm3d)
_CUDALINT_MATH3(rnorm3d)
#undef _CUDALINT_MATH1
#undef _CUDALINT_MATH2
#undef _CUDALINT_MATH3

extern "C" long double powl(long double, long double);
extern "C" long double fmodl(long double, long double);
extern "C" long double fminl(long double, long double);
extern "C" long double fmaxl(long double, long double);
template <class _A, class _B, class _C>
typename _cudalint::enable<_cudalint::is_integer<_A>::value || _cudalint::is_integer<_B>::value || _cudalint::is_integer<_C>::value
                               || sizeof(_A) != sizeof(_B) || sizeof(_B) != sizeof(_C),
                           double>::type
fma(_A, _B, _C);

extern "C" {
float fdividef(float, float);
double norm4d(double, double, double, double);
float norm4df(float, float, float, float);
double rnorm4d(double, double, double, double);
float rnorm4df(float, float, float, float);
double norm(int, const double*);
float normf(int, const float*);
double rnorm(int, const double*);
double jn(int, double);
float jnf(int, float);
double yn(int, double);
float ynf(int, float);
double ldexp(double, int);
float ldexpf(float, int);
double scalbn(double, int);
float scalbnf(float, int);
double scalbln(double, long);
float scalblnf(float, long);
double frexp(double, int*);
float frexpf(float, int*);
double modf(double, double*);
float modff(float, float*);
double remquo(double, double, int*);
float remquof(float, float, int*);
double nan(const char*);
float nanf(const char*);
int ilogb(double);
int ilogbf(float);
long lrint(double);
long lrintf(float);
long lround(double);
long lroundf(float);
long long llrint(double);
long long llrintf(float);
long long llround(double);
long long llroundf(float);
void sincos(double, double*, double*);
void sincosf(float, float*, float*);
void sincospi(double, double*, double*);
void sincospif(float, float*, float*);
double drem(double, double);
float significandf(float);
double gamma(double);
double lgamma_r(double, int*);
}
void sincos(float, float*, float*);
void sincospi(float, float*, float*);
float ldexp(float, int);
float scalbn(float, int);
float frexp(float, int*);
float modf(float, float*);
int ilogb(float);
long lrint(float);
long lround(float);
long long llrint(float);
long long llround(float);
template <class _T> _cudalint::if_integer<_T> ldexp(_T, int);

// Classification takes any arithmetic type, and must be a name that `std::` can import.
#define _CUDALINT_CLASSIFY(_F)                                                                              \
    constexpr bool _F(float x) { return __builtin_##_F(x); }                                                \
    constexpr bool _F(double x) { return __builtin_##_F(x); }                                               \
    constexpr bool _F(long double x) { return __builtin_##_F(x); }                                          \
    template <class _T> constexpr typename _cudalint::enable<_cudalint::is_integer<_T>::value, bool>::type _F(_T x) \
    {                                                                                                       \
        return __builtin_##_F(double(x));                                                                   \
    }
_CUDALINT_CLASSIFY(isnan)
_CUDALINT_CLASSIFY(isinf)
_CUDALINT_CLASSIFY(isfinite)
_CUDALINT_CLASSIFY(isnormal)
_CUDALINT_CLASSIFY(signbit)
#undef _CUDALINT_CLASSIFY
int fpclassify(float);
int fpclassify(double);
extern "C" int finite(double);
extern "C" int isnanf(float);
extern "C" int isinff(float);
extern "C" int finitef(float);
extern "C" int __signbit(double);
extern "C" int __signbitf(float);
extern "C" int __isnan(double);
extern "C" int __isnanf(float);
extern "C" int __isinf(double);
extern "C" int __isinff(float);
extern "C" int __finite(double);
extern "C" int __finitef(float);

extern "C" int abs(int) noexcept;
extern "C" long labs(long) noexcept;
extern "C" long long llabs(long long) noexcept;
constexpr long abs(long x) { return x < 0 ? -x : x; }
constexpr long long abs(long long x) { return x < 0 ? -x : x; }
constexpr float abs(float x) { return x < 0 ? -x : x; }
constexpr double abs(double x) { return x < 0 ? -x : x; }
constexpr long double abs(long double x) { return x < 0 ? -x : x; }
#pragma clang force_cuda_host_device end
