#pragma once
// GLM's vectors: their layout, constructors and operators, component by component.
#pragma clang force_cuda_host_device begin
#include <cmath>
#include <cstddef>
#include <cstdint>

#define GLM_VERSION 1010
#define GLM_FUNC_QUALIFIER __device__ __host__ inline
#define GLM_FUNC_DECL __device__ __host__

namespace glm {

typedef int length_t;

enum qualifier { packed_highp, packed_mediump, packed_lowp, highp = packed_highp, mediump = packed_mediump, lowp = packed_lowp, packed = packed_highp, defaultp = packed_highp };
typedef qualifier precision;

template <length_t L, typename T, qualifier Q = defaultp> struct vec;

// Beyond what GLM has by default: its swizzles as functions, and what other libraries' vectors of these names have.
#define _CUDALINT_GLM_PART(name, L, first) \
    vec<L, T, Q>& name() { return *reinterpret_cast<vec<L, T, Q>*>(&first); } \
    vec<L, T, Q> const& name() const { return *reinterpret_cast<vec<L, T, Q> const*>(&first); }
#define _CUDALINT_GLM_COMMON \
    typedef T Scalar; \
    T* data() { return &x; } \
    T const* data() const { return &x; } \
    static vec zero() { return vec(T(0)); } \
    static vec ones() { return vec(T(1)); } \
    T& operator[](length_t i) { return (&x)[i]; } \
    T const& operator[](length_t i) const { return (&x)[i]; }

// A parameter of this type takes part in no deduction: `v * 2` is a product with the vector's own type.
template <typename T> struct _cudalint_own { typedef T type; };
template <typename T> using _cudalint_own_t = typename _cudalint_own<T>::type;

template <typename T, qualifier Q> struct vec<1, T, Q> {
    typedef T value_type;
    typedef vec type;
    typedef vec<1, bool, Q> bool_type;
    union { T x, r, s; };
    static constexpr length_t length() { return 1; }
    vec() = default;
    constexpr vec(T v) : x(v) {}
    template <typename U, qualifier P> constexpr vec(vec<1, U, P> const& v) : x(T(v.x)) {}
    _CUDALINT_GLM_COMMON
};

template <typename T, qualifier Q> struct vec<2, T, Q> {
    typedef T value_type;
    typedef vec type;
    typedef vec<2, bool, Q> bool_type;
    union { T x, r, s; };
    union { T y, g, t; };
    static constexpr length_t length() { return 2; }
    vec() = default;
    constexpr vec(T v) : x(v), y(v) {}
    template <typename A, typename B> constexpr vec(A a, B b) : x(T(a)), y(T(b)) {}
    template <typename U, qualifier P> constexpr vec(vec<2, U, P> const& v) : x(T(v.x)), y(T(v.y)) {}
    template <typename U, qualifier P> explicit constexpr vec(vec<3, U, P> const& v) : x(T(v.x)), y(T(v.y)) {}
    template <typename U, qualifier P> explicit constexpr vec(vec<4, U, P> const& v) : x(T(v.x)), y(T(v.y)) {}
    _CUDALINT_GLM_COMMON
};

template <typename T, qualifier Q> struct vec<3, T, Q> {
    typedef T value_type;
    typedef vec type;
    typedef vec<3, bool, Q> bool_type;
    union { T x, r, s; };
    union { T y, g, t; };
    union { T z, b, p; };
    static constexpr length_t length() { return 3; }
    vec() = default;
    constexpr vec(T v) : x(v), y(v), z(v) {}
    template <typename A, typename B, typename C> constexpr vec(A a, B b, C c) : x(T(a)), y(T(b)), z(T(c)) {}
    template <typename A, qualifier P, typename B> constexpr vec(vec<2, A, P> const& v, B c) : x(T(v.x)), y(T(v.y)), z(T(c)) {}
    template <typename A, typename B, qualifier P> constexpr vec(A a, vec<2, B, P> const& v) : x(T(a)), y(T(v.x)), z(T(v.y)) {}
    template <typename U, qualifier P> constexpr vec(vec<3, U, P> const& v) : x(T(v.x)), y(T(v.y)), z(T(v.z)) {}
    template <typename U, qualifier P> explicit constexpr vec(vec<4, U, P> const& v) : x(T(v.x)), y(T(v.y)), z(T(v.z)) {}
    _CUDALINT_GLM_COMMON
    _CUDALINT_GLM_PART(xy, 2, x)
    _CUDALINT_GLM_PART(yz, 2, y)
    _CUDALINT_GLM_PART(rg, 2, x)
};

template <typename T, qualifier Q> struct vec<4, T, Q> {
    typedef T value_type;
    typedef vec type;
    typedef vec<4, bool, Q> bool_type;
    union { T x, r, s; };
    union { T y, g, t; };
    union { T z, b, p; };
    union { T w, a, q; };
    static constexpr length_t length() { return 4; }
    vec() = default;
    constexpr vec(T v) : x(v), y(v), z(v), w(v) {}
    template <typename A, typename B, typename C, typename D> constexpr vec(A a, B b, C c, D d) : x(T(a)), y(T(b)), z(T(c)), w(T(d)) {}
    template <typename A, qualifier P, typename B> constexpr vec(vec<3, A, P> const& v, B d) : x(T(v.x)), y(T(v.y)), z(T(v.z)), w(T(d)) {}
    template <typename A, typename B, qualifier P> constexpr vec(A a, vec<3, B, P> const& v) : x(T(a)), y(T(v.x)), z(T(v.y)), w(T(v.z)) {}
    template <typename A, qualifier P, typename B, qualifier R> constexpr vec(vec<2, A, P> const& v, vec<2, B, R> const& w) : x(T(v.x)), y(T(v.y)), z(T(w.x)), w(T(w.y)) {}
    template <typename A, qualifier P, typename B, typename C> constexpr vec(vec<2, A, P> const& v, B c, C d) : x(T(v.x)), y(T(v.y)), z(T(c)), w(T(d)) {}
    template <typename U, qualifier P> constexpr vec(vec<4, U, P> const& v) : x(T(v.x)), y(T(v.y)), z(T(v.z)), w(T(v.w)) {}
    _CUDALINT_GLM_COMMON
    _CUDALINT_GLM_PART(xy, 2, x)
    _CUDALINT_GLM_PART(yz, 2, y)
    _CUDALINT_GLM_PART(zw, 2, z)
    _CUDALINT_GLM_PART(rg, 2, x)
    _CUDALINT_GLM_PART(xyz, 3, x)
    _CUDALINT_GLM_PART(rgb, 3, x)
    _CUDALINT_GLM_PART(yzw, 3, y)
};

#define _CUDALINT_GLM_T template <typename T, qualifier Q>
#define _CUDALINT_GLM_V(N) vec<N, T, Q>
#define _CUDALINT_GLM_BINARY(op) \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(1) operator op(_CUDALINT_GLM_V(1) const& a, _CUDALINT_GLM_V(1) const& b) { return {T(a.x op b.x)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(2) operator op(_CUDALINT_GLM_V(2) const& a, _CUDALINT_GLM_V(2) const& b) { return {T(a.x op b.x), T(a.y op b.y)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(3) operator op(_CUDALINT_GLM_V(3) const& a, _CUDALINT_GLM_V(3) const& b) { return {T(a.x op b.x), T(a.y op b.y), T(a.z op b.z)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(4) operator op(_CUDALINT_GLM_V(4) const& a, _CUDALINT_GLM_V(4) const& b) { return {T(a.x op b.x), T(a.y op b.y), T(a.z op b.z), T(a.w op b.w)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(2) operator op(_CUDALINT_GLM_V(2) const& a, _cudalint_own_t<T> b) { return {T(a.x op b), T(a.y op b)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(3) operator op(_CUDALINT_GLM_V(3) const& a, _cudalint_own_t<T> b) { return {T(a.x op b), T(a.y op b), T(a.z op b)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(4) operator op(_CUDALINT_GLM_V(4) const& a, _cudalint_own_t<T> b) { return {T(a.x op b), T(a.y op b), T(a.z op b), T(a.w op b)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(2) operator op(_cudalint_own_t<T> a, _CUDALINT_GLM_V(2) const& b) { return {T(a op b.x), T(a op b.y)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(3) operator op(_cudalint_own_t<T> a, _CUDALINT_GLM_V(3) const& b) { return {T(a op b.x), T(a op b.y), T(a op b.z)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(4) operator op(_cudalint_own_t<T> a, _CUDALINT_GLM_V(4) const& b) { return {T(a op b.x), T(a op b.y), T(a op b.z), T(a op b.w)}; }
#define _CUDALINT_GLM_ASSIGN(op) \
    template <typename T, qualifier Q, typename U, qualifier P> vec<2, T, Q>& operator op(vec<2, T, Q>& a, vec<2, U, P> const& b) { a.x op T(b.x); a.y op T(b.y); return a; } \
    template <typename T, qualifier Q, typename U, qualifier P> vec<3, T, Q>& operator op(vec<3, T, Q>& a, vec<3, U, P> const& b) { a.x op T(b.x); a.y op T(b.y); a.z op T(b.z); return a; } \
    template <typename T, qualifier Q, typename U, qualifier P> vec<4, T, Q>& operator op(vec<4, T, Q>& a, vec<4, U, P> const& b) { a.x op T(b.x); a.y op T(b.y); a.z op T(b.z); a.w op T(b.w); return a; } \
    _CUDALINT_GLM_T _CUDALINT_GLM_V(2)& operator op(_CUDALINT_GLM_V(2)& a, _cudalint_own_t<T> b) { a.x op b; a.y op b; return a; } \
    _CUDALINT_GLM_T _CUDALINT_GLM_V(3)& operator op(_CUDALINT_GLM_V(3)& a, _cudalint_own_t<T> b) { a.x op b; a.y op b; a.z op b; return a; } \
    _CUDALINT_GLM_T _CUDALINT_GLM_V(4)& operator op(_CUDALINT_GLM_V(4)& a, _cudalint_own_t<T> b) { a.x op b; a.y op b; a.z op b; a.w op b; return a; }
#define _CUDALINT_GLM_UNARY(op) \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(2) operator op(_CUDALINT_GLM_V(2) const& a) { return {T(op a.x), T(op a.y)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(3) operator op(_CUDALINT_GLM_V(3) const& a) { return {T(op a.x), T(op a.y), T(op a.z)}; } \
    _CUDALINT_GLM_T constexpr _CUDALINT_GLM_V(4) operator op(_CUDALINT_GLM_V(4) const& a) { return {T(op a.x), T(op a.y), T(op a.z), T(op a.w)}; }
#define _CUDALINT_GLM_STEP(op, by) \
    _CUDALINT_GLM_T _CUDALINT_GLM_V(2)& operator op(_CUDALINT_GLM_V(2)& a) { return a by T(1); } \
    _CUDALINT_GLM_T _CUDALINT_GLM_V(3)& operator op(_CUDALINT_GLM_V(3)& a) { return a by T(1); } \
    _CUDALINT_GLM_T _CUDALINT_GLM_V(4)& operator op(_CUDALINT_GLM_V(4)& a) { return a by T(1); }

_CUDALINT_GLM_BINARY(+)
_CUDALINT_GLM_BINARY(-)
_CUDALINT_GLM_BINARY(*)
_CUDALINT_GLM_BINARY(/)
_CUDALINT_GLM_BINARY(%)
_CUDALINT_GLM_BINARY(&)
_CUDALINT_GLM_BINARY(|)
_CUDALINT_GLM_BINARY(^)
_CUDALINT_GLM_BINARY(<<)
_CUDALINT_GLM_BINARY(>>)
_CUDALINT_GLM_ASSIGN(+=)
_CUDALINT_GLM_ASSIGN(-=)
_CUDALINT_GLM_ASSIGN(*=)
_CUDALINT_GLM_ASSIGN(/=)
_CUDALINT_GLM_ASSIGN(%=)
_CUDALINT_GLM_ASSIGN(&=)
_CUDALINT_GLM_ASSIGN(|=)
_CUDALINT_GLM_ASSIGN(^=)
_CUDALINT_GLM_ASSIGN(<<=)
_CUDALINT_GLM_ASSIGN(>>=)
_CUDALINT_GLM_UNARY(+)
_CUDALINT_GLM_UNARY(-)
_CUDALINT_GLM_UNARY(~)
_CUDALINT_GLM_STEP(++, +=)
_CUDALINT_GLM_STEP(--, -=)

_CUDALINT_GLM_T constexpr bool operator==(_CUDALINT_GLM_V(2) const& a, _CUDALINT_GLM_V(2) const& b) { return a.x == b.x && a.y == b.y; }
_CUDALINT_GLM_T constexpr bool operator==(_CUDALINT_GLM_V(3) const& a, _CUDALINT_GLM_V(3) const& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
_CUDALINT_GLM_T constexpr bool operator==(_CUDALINT_GLM_V(4) const& a, _CUDALINT_GLM_V(4) const& b) { return a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w; }
template <length_t L, typename T, qualifier Q> constexpr bool operator!=(vec<L, T, Q> const& a, vec<L, T, Q> const& b) { return !(a == b); }

#define _CUDALINT_GLM_NAMED(prefix, T) \
    typedef vec<1, T> prefix##vec1; \
    typedef vec<2, T> prefix##vec2; \
    typedef vec<3, T> prefix##vec3; \
    typedef vec<4, T> prefix##vec4;

_CUDALINT_GLM_NAMED(, float)
_CUDALINT_GLM_NAMED(f, float)
_CUDALINT_GLM_NAMED(f32, float)
_CUDALINT_GLM_NAMED(highp_, float)
_CUDALINT_GLM_NAMED(d, double)
_CUDALINT_GLM_NAMED(f64, double)
_CUDALINT_GLM_NAMED(b, bool)
_CUDALINT_GLM_NAMED(i, int)
_CUDALINT_GLM_NAMED(u, unsigned)
_CUDALINT_GLM_NAMED(i8, int8_t)
_CUDALINT_GLM_NAMED(u8, uint8_t)
_CUDALINT_GLM_NAMED(i16, int16_t)
_CUDALINT_GLM_NAMED(u16, uint16_t)
_CUDALINT_GLM_NAMED(i32, int32_t)
_CUDALINT_GLM_NAMED(u32, uint32_t)
_CUDALINT_GLM_NAMED(i64, int64_t)
_CUDALINT_GLM_NAMED(u64, uint64_t)
template <typename T, qualifier Q = defaultp> using tvec1 = vec<1, T, Q>;
template <typename T, qualifier Q = defaultp> using tvec2 = vec<2, T, Q>;
template <typename T, qualifier Q = defaultp> using tvec3 = vec<3, T, Q>;
template <typename T, qualifier Q = defaultp> using tvec4 = vec<4, T, Q>;
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef unsigned uint;

}  // namespace glm
#pragma clang force_cuda_host_device end
