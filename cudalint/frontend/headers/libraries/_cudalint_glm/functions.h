#pragma once
// GLM's functions on numbers and, component by component, on vectors.
#pragma clang force_cuda_host_device begin
#include "vectors.h"

namespace glm {

#define _CUDALINT_GLM_EACH(name, expression) \
    template <typename T> constexpr T name(T v) { return T(expression(v)); } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(2) name(_CUDALINT_GLM_V(2) const& v) { return {name(v.x), name(v.y)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(3) name(_CUDALINT_GLM_V(3) const& v) { return {name(v.x), name(v.y), name(v.z)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(4) name(_CUDALINT_GLM_V(4) const& v) { return {name(v.x), name(v.y), name(v.z), name(v.w)}; }
#define _CUDALINT_GLM_PAIRS(name) \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(2) name(_CUDALINT_GLM_V(2) const& a, _CUDALINT_GLM_V(2) const& b) { return {name(a.x, b.x), name(a.y, b.y)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(3) name(_CUDALINT_GLM_V(3) const& a, _CUDALINT_GLM_V(3) const& b) { return {name(a.x, b.x), name(a.y, b.y), name(a.z, b.z)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(4) name(_CUDALINT_GLM_V(4) const& a, _CUDALINT_GLM_V(4) const& b) { return {name(a.x, b.x), name(a.y, b.y), name(a.z, b.z), name(a.w, b.w)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(2) name(_CUDALINT_GLM_V(2) const& a, _cudalint_own_t<T> b) { return {name(a.x, b), name(a.y, b)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(3) name(_CUDALINT_GLM_V(3) const& a, _cudalint_own_t<T> b) { return {name(a.x, b), name(a.y, b), name(a.z, b)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(4) name(_CUDALINT_GLM_V(4) const& a, _cudalint_own_t<T> b) { return {name(a.x, b), name(a.y, b), name(a.z, b), name(a.w, b)}; }

template <typename T> constexpr T radians(T v) { return v * T(0.01745329251994329576923690768489); }
template <typename T> constexpr T degrees(T v) { return v * T(57.295779513082320876798154814105); }
_CUDALINT_GLM_EACH(abs, [](auto v) { return v < 0 ? -v : v; })
_CUDALINT_GLM_EACH(sign, [](auto v) { return (v > 0) - (v < 0); })
_CUDALINT_GLM_EACH(floor, ::floor)
_CUDALINT_GLM_EACH(ceil, ::ceil)
_CUDALINT_GLM_EACH(round, ::round)
_CUDALINT_GLM_EACH(trunc, ::trunc)
_CUDALINT_GLM_EACH(fract, [](auto v) { return v - ::floor(v); })
_CUDALINT_GLM_EACH(sqrt, ::sqrt)
_CUDALINT_GLM_EACH(inversesqrt, 1 / ::sqrt)
_CUDALINT_GLM_EACH(exp, ::exp)
_CUDALINT_GLM_EACH(exp2, ::exp2)
_CUDALINT_GLM_EACH(log, ::log)
_CUDALINT_GLM_EACH(log2, ::log2)
_CUDALINT_GLM_EACH(sin, ::sin)
_CUDALINT_GLM_EACH(cos, ::cos)
_CUDALINT_GLM_EACH(tan, ::tan)
_CUDALINT_GLM_EACH(asin, ::asin)
_CUDALINT_GLM_EACH(acos, ::acos)
_CUDALINT_GLM_EACH(atan, ::atan)
_CUDALINT_GLM_EACH(sinh, ::sinh)
_CUDALINT_GLM_EACH(cosh, ::cosh)
_CUDALINT_GLM_EACH(tanh, ::tanh)

template <typename T> constexpr T min(T a, T b) { return b < a ? b : a; }
template <typename T> constexpr T max(T a, T b) { return a < b ? b : a; }
template <typename T> constexpr T mod(T a, T b) { return a - b * ::floor(a / b); }
template <typename T> constexpr T pow(T a, T b) { return T(::pow(a, b)); }
template <typename T> constexpr T atan(T a, T b) { return T(::atan2(a, b)); }
template <typename T> constexpr T step(T edge, T v) { return v < edge ? T(0) : T(1); }
_CUDALINT_GLM_PAIRS(min)
_CUDALINT_GLM_PAIRS(max)
_CUDALINT_GLM_PAIRS(mod)
_CUDALINT_GLM_PAIRS(pow)
_CUDALINT_GLM_PAIRS(step)
template <typename T> constexpr T fmin(T a, T b) { return min(a, b); }
template <typename T> constexpr T fmax(T a, T b) { return max(a, b); }
template <typename T> constexpr T clamp(T v, _cudalint_own_t<T> low, _cudalint_own_t<T> high) { return min(max(v, low), high); }
template <length_t L, typename T, qualifier Q> constexpr vec<L, T, Q> clamp(vec<L, T, Q> const& v, T low, T high) { return min(max(v, low), high); }
template <typename T> constexpr T saturate(T v) { return clamp(v, 0, 1); }
template <typename T, typename U> constexpr T mix(T const& a, T const& b, U k) { return T(a * (U(1) - k) + b * k); }
template <typename T> constexpr T lerp(T a, T b, T k) { return mix(a, b, k); }
template <length_t L, typename T, qualifier Q> constexpr vec<L, T, Q> lerp(vec<L, T, Q> const& a, vec<L, T, Q> const& b, T k) { return mix(a, b, k); }
template <typename T> constexpr T smoothstep(T low, T high, T v) { T k = clamp((v - low) / (high - low), T(0), T(1)); return k * k * (T(3) - T(2) * k); }
template <typename T> bool isnan(T v) { return ::isnan(v); }
template <typename T> bool isinf(T v) { return ::isinf(v); }
template <typename T> constexpr T fma(T const& a, T const& b, T const& c) { return a * b + c; }
template <typename T> constexpr bool epsilonEqual(T a, T b, T epsilon) { return abs(a - b) < epsilon; }

_CUDALINT_GLM_T constexpr T dot(_CUDALINT_GLM_V(2) const& a, _CUDALINT_GLM_V(2) const& b) { return a.x * b.x + a.y * b.y; }
_CUDALINT_GLM_T constexpr T dot(_CUDALINT_GLM_V(3) const& a, _CUDALINT_GLM_V(3) const& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
_CUDALINT_GLM_T constexpr T dot(_CUDALINT_GLM_V(4) const& a, _CUDALINT_GLM_V(4) const& b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
_CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(3) cross(_CUDALINT_GLM_V(3) const& a, _CUDALINT_GLM_V(3) const& b) { return {a.y * b.z - b.y * a.z, a.z * b.x - b.z * a.x, a.x * b.y - b.x * a.y}; }
template <length_t L, typename T, qualifier Q> T length2(vec<L, T, Q> const& v) { return dot(v, v); }
template <length_t L, typename T, qualifier Q> T length(vec<L, T, Q> const& v) { return T(::sqrt(dot(v, v))); }
template <length_t L, typename T, qualifier Q> T distance2(vec<L, T, Q> const& a, vec<L, T, Q> const& b) { return length2(b - a); }
template <length_t L, typename T, qualifier Q> T distance(vec<L, T, Q> const& a, vec<L, T, Q> const& b) { return length(b - a); }
template <typename V> V normalize(V const& v) { return v * inversesqrt(dot(v, v)); }
template <typename V> V reflect(V const& i, V const& n) { return i - n * dot(n, i) * typename V::value_type(2); }
template <typename V> V faceforward(V const& n, V const& i, V const& reference) { return dot(reference, i) < 0 ? n : -n; }
template <typename V, typename T> V refract(V const& i, V const& n, T eta) {
    T d = dot(n, i), k = T(1) - eta * eta * (T(1) - d * d);
    return k >= T(0) ? i * eta - n * (eta * d + T(::sqrt(k))) : V(0);
}

constexpr bool any(bvec2 const& v) { return v.x || v.y; }
constexpr bool any(bvec3 const& v) { return v.x || v.y || v.z; }
constexpr bool any(bvec4 const& v) { return v.x || v.y || v.z || v.w; }
constexpr bool all(bvec2 const& v) { return v.x && v.y; }
constexpr bool all(bvec3 const& v) { return v.x && v.y && v.z; }
constexpr bool all(bvec4 const& v) { return v.x && v.y && v.z && v.w; }
#define _CUDALINT_GLM_COMPARE(name, op) \
    _CUDALINT_GLM_T constexpr vec<2, bool, Q> name(_CUDALINT_GLM_V(2) const& a, _CUDALINT_GLM_V(2) const& b) { return {a.x op b.x, a.y op b.y}; } \
    _CUDALINT_GLM_T constexpr vec<3, bool, Q> name(_CUDALINT_GLM_V(3) const& a, _CUDALINT_GLM_V(3) const& b) { return {a.x op b.x, a.y op b.y, a.z op b.z}; } \
    _CUDALINT_GLM_T constexpr vec<4, bool, Q> name(_CUDALINT_GLM_V(4) const& a, _CUDALINT_GLM_V(4) const& b) { return {a.x op b.x, a.y op b.y, a.z op b.z, a.w op b.w}; }
_CUDALINT_GLM_COMPARE(lessThan, <)
_CUDALINT_GLM_COMPARE(lessThanEqual, <=)
_CUDALINT_GLM_COMPARE(greaterThan, >)
_CUDALINT_GLM_COMPARE(greaterThanEqual, >=)
_CUDALINT_GLM_COMPARE(equal, ==)
_CUDALINT_GLM_COMPARE(notEqual, !=)

#define _CUDALINT_GLM_CONSTANT(name, number) template <typename T> constexpr T name() { return T(number); }
_CUDALINT_GLM_CONSTANT(epsilon, sizeof(T) == 4 ? 1.1920928955078125e-07 : 2.220446049250313e-16)
_CUDALINT_GLM_CONSTANT(zero, 0)
_CUDALINT_GLM_CONSTANT(one, 1)
_CUDALINT_GLM_CONSTANT(pi, 3.14159265358979323846264338327950288)
_CUDALINT_GLM_CONSTANT(two_pi, 6.28318530717958647692528676655900576)
_CUDALINT_GLM_CONSTANT(half_pi, 1.57079632679489661923132169163975144)
_CUDALINT_GLM_CONSTANT(quarter_pi, 0.785398163397448309615660845819875721)
_CUDALINT_GLM_CONSTANT(one_over_pi, 0.318309886183790671537767526745028724)
_CUDALINT_GLM_CONSTANT(one_over_two_pi, 0.159154943091895335768883763372514362)
_CUDALINT_GLM_CONSTANT(root_two, 1.41421356237309504880168872420969808)

template <length_t L, typename T, qualifier Q> T* value_ptr(vec<L, T, Q>& v) { return &v.x; }
template <length_t L, typename T, qualifier Q> T const* value_ptr(vec<L, T, Q> const& v) { return &v.x; }
template <typename T> vec<2, T> make_vec2(T const* p) { return {p[0], p[1]}; }
template <typename T> vec<3, T> make_vec3(T const* p) { return {p[0], p[1], p[2]}; }
template <typename T> vec<4, T> make_vec4(T const* p) { return {p[0], p[1], p[2], p[3]}; }

}  // namespace glm
#pragma clang force_cuda_host_device end
