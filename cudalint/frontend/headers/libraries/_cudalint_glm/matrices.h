#pragma once
// GLM's matrices, column by column, and quaternions.
#pragma clang force_cuda_host_device begin
#include <string>
#include "functions.h"

namespace glm {

template <length_t C, length_t R, typename T, qualifier Q = defaultp> struct mat {
    typedef vec<R, T, Q> col_type;
    typedef vec<C, T, Q> row_type;
    typedef T value_type;
    typedef mat type;
    col_type value[C];
    static constexpr length_t length() { return C; }
    static mat identity() { return mat(T(1)); }
    mat() = default;
    explicit mat(T v) {
        for (length_t c = 0; c < C; ++c)
            for (length_t r = 0; r < R; ++r) value[c][r] = c == r ? v : T(0);
    }
    mat(col_type const& a, col_type const& b) : value{a, b} {}
    mat(col_type const& a, col_type const& b, col_type const& c) : value{a, b, c} {}
    mat(col_type const& a, col_type const& b, col_type const& c, col_type const& d) : value{a, b, c, d} {}
    mat(T a, T b, T c, T d) : value{col_type(a, b), col_type(c, d)} {}
    mat(T a, T b, T c, T d, T e, T f) {
        T const given[] = {a, b, c, d, e, f};
        for (length_t i = 0; i < C; ++i)
            for (length_t r = 0; r < R; ++r) value[i][r] = given[i * R + r];
    }
    mat(T a, T b, T c, T d, T e, T f, T g, T h, T i) : value{col_type(a, b, c), col_type(d, e, f), col_type(g, h, i)} {}
    mat(T a, T b, T c, T d, T e, T f, T g, T h, T i, T j, T k, T l, T m, T n, T o, T p) : value{col_type(a, b, c, d), col_type(e, f, g, h), col_type(i, j, k, l), col_type(m, n, o, p)} {}
    template <length_t D, length_t S, typename U, qualifier P> mat(mat<D, S, U, P> const& m) {
        for (length_t c = 0; c < C; ++c)
            for (length_t r = 0; r < R; ++r) value[c][r] = c < D && r < S ? T(m.value[c < D ? c : 0][r < S ? r : 0]) : T(c == r);
    }
    col_type& operator[](length_t i) { return value[i]; }
    col_type const& operator[](length_t i) const { return value[i]; }
    template <typename B> mat& operator+=(B const& b) { return *this = *this + b; }
    template <typename B> mat& operator-=(B const& b) { return *this = *this - b; }
    template <typename B> mat& operator*=(B const& b) { return *this = *this * b; }
    template <typename B> mat& operator/=(B const& b) { return *this = *this / b; }
};

#define _CUDALINT_GLM_M template <length_t C, length_t R, typename T, qualifier Q>
#define _CUDALINT_GLM_COLUMNS(expression) mat<C, R, T, Q> m; for (length_t c = 0; c < C; ++c) m.value[c] = expression; return m
_CUDALINT_GLM_M mat<C, R, T, Q> operator+(mat<C, R, T, Q> const& a, mat<C, R, T, Q> const& b) { _CUDALINT_GLM_COLUMNS(a.value[c] + b.value[c]); }
_CUDALINT_GLM_M mat<C, R, T, Q> operator-(mat<C, R, T, Q> const& a, mat<C, R, T, Q> const& b) { _CUDALINT_GLM_COLUMNS(a.value[c] - b.value[c]); }
_CUDALINT_GLM_M mat<C, R, T, Q> operator-(mat<C, R, T, Q> const& a) { _CUDALINT_GLM_COLUMNS(-a.value[c]); }
_CUDALINT_GLM_M mat<C, R, T, Q> operator*(mat<C, R, T, Q> const& a, _cudalint_own_t<T> b) { _CUDALINT_GLM_COLUMNS(a.value[c] * b); }
_CUDALINT_GLM_M mat<C, R, T, Q> operator*(_cudalint_own_t<T> b, mat<C, R, T, Q> const& a) { _CUDALINT_GLM_COLUMNS(a.value[c] * b); }
_CUDALINT_GLM_M mat<C, R, T, Q> operator/(mat<C, R, T, Q> const& a, _cudalint_own_t<T> b) { _CUDALINT_GLM_COLUMNS(a.value[c] / b); }
_CUDALINT_GLM_M vec<R, T, Q> operator*(mat<C, R, T, Q> const& a, vec<C, T, Q> const& v) {
    vec<R, T, Q> sum = a.value[0] * v[0];
    for (length_t c = 1; c < C; ++c) sum += a.value[c] * v[c];
    return sum;
}
_CUDALINT_GLM_M vec<C, T, Q> operator*(vec<R, T, Q> const& v, mat<C, R, T, Q> const& a) {
    vec<C, T, Q> result;
    for (length_t c = 0; c < C; ++c) result[c] = dot(v, a.value[c]);
    return result;
}
template <length_t K, length_t C, length_t R, typename T, qualifier Q> mat<C, R, T, Q> operator*(mat<K, R, T, Q> const& a, mat<C, K, T, Q> const& b) { _CUDALINT_GLM_COLUMNS(a * b.value[c]); }
_CUDALINT_GLM_M mat<C, R, T, Q> matrixCompMult(mat<C, R, T, Q> const& a, mat<C, R, T, Q> const& b) { _CUDALINT_GLM_COLUMNS(a.value[c] * b.value[c]); }
_CUDALINT_GLM_M mat<C, R, T, Q> outerProduct(vec<R, T, Q> const& a, vec<C, T, Q> const& b) { _CUDALINT_GLM_COLUMNS(a * b[c]); }
_CUDALINT_GLM_M mat<R, C, T, Q> transpose(mat<C, R, T, Q> const& a) {
    mat<R, C, T, Q> m;
    for (length_t c = 0; c < R; ++c)
        for (length_t r = 0; r < C; ++r) m.value[c][r] = a.value[r][c];
    return m;
}
template <length_t N, typename T, qualifier Q> T determinant(mat<N, N, T, Q> const& m);
template <length_t N, typename T, qualifier Q> mat<N, N, T, Q> inverse(mat<N, N, T, Q> const& m);
template <length_t N, typename T, qualifier Q> mat<N, N, T, Q> inverseTranspose(mat<N, N, T, Q> const& m) { return transpose(inverse(m)); }
_CUDALINT_GLM_M vec<R, T, Q> column(mat<C, R, T, Q> const& m, length_t c) { return m.value[c]; }
_CUDALINT_GLM_M vec<C, T, Q> row(mat<C, R, T, Q> const& m, length_t r) { return transpose(m).value[r]; }
_CUDALINT_GLM_M T* value_ptr(mat<C, R, T, Q>& m) { return &m.value[0].x; }
_CUDALINT_GLM_M T const* value_ptr(mat<C, R, T, Q> const& m) { return &m.value[0].x; }

#define _CUDALINT_GLM_SHAPES(prefix, T) \
    typedef mat<2, 2, T> prefix##mat2; typedef mat<3, 3, T> prefix##mat3; typedef mat<4, 4, T> prefix##mat4; \
    typedef mat<2, 2, T> prefix##mat2x2; typedef mat<2, 3, T> prefix##mat2x3; typedef mat<2, 4, T> prefix##mat2x4; \
    typedef mat<3, 2, T> prefix##mat3x2; typedef mat<3, 3, T> prefix##mat3x3; typedef mat<3, 4, T> prefix##mat3x4; \
    typedef mat<4, 2, T> prefix##mat4x2; typedef mat<4, 3, T> prefix##mat4x3; typedef mat<4, 4, T> prefix##mat4x4;
_CUDALINT_GLM_SHAPES(, float)
_CUDALINT_GLM_SHAPES(f, float)
_CUDALINT_GLM_SHAPES(f32, float)
_CUDALINT_GLM_SHAPES(d, double)
template <typename T, qualifier Q = defaultp> using tmat2x2 = mat<2, 2, T, Q>;
template <typename T, qualifier Q = defaultp> using tmat3x3 = mat<3, 3, T, Q>;
template <typename T, qualifier Q = defaultp> using tmat4x4 = mat<4, 4, T, Q>;
#define _CUDALINT_GLM_MAKE(C, R) \
    template <typename T> mat<C, R, T> make_mat##C##x##R(T const* p) { \
        mat<C, R, T> m; \
        for (length_t c = 0; c < C; ++c) for (length_t r = 0; r < R; ++r) m.value[c][r] = p[c * R + r]; \
        return m; \
    }
_CUDALINT_GLM_MAKE(2, 2)
_CUDALINT_GLM_MAKE(3, 3)
_CUDALINT_GLM_MAKE(4, 4)
_CUDALINT_GLM_MAKE(4, 3)
_CUDALINT_GLM_MAKE(3, 4)
template <typename T> mat<2, 2, T> make_mat2(T const* p) { return make_mat2x2(p); }
template <typename T> mat<3, 3, T> make_mat3(T const* p) { return make_mat3x3(p); }
template <typename T> mat<4, 4, T> make_mat4(T const* p) { return make_mat4x4(p); }

template <typename T, qualifier Q> mat<4, 4, T, Q> translate(mat<4, 4, T, Q> const& m, vec<3, T, Q> const& v) {
    mat<4, 4, T, Q> moved(m);
    moved.value[3] = m.value[0] * v.x + m.value[1] * v.y + m.value[2] * v.z + m.value[3];
    return moved;
}
template <typename T, qualifier Q> mat<4, 4, T, Q> scale(mat<4, 4, T, Q> const& m, vec<3, T, Q> const& v) { return {m.value[0] * v.x, m.value[1] * v.y, m.value[2] * v.z, m.value[3]}; }
template <typename T, qualifier Q> mat<4, 4, T, Q> rotate(mat<4, 4, T, Q> const& m, T angle, vec<3, T, Q> const& axis);
template <typename T, qualifier Q> vec<3, T, Q> rotate(vec<3, T, Q> const& v, T angle, vec<3, T, Q> const& axis);
template <typename T> mat<4, 4, T> perspective(T fovy, T aspect, T near_, T far_);
template <typename T> mat<4, 4, T> frustum(T left, T right, T bottom, T top, T near_, T far_);
template <typename T> mat<4, 4, T> ortho(T left, T right, T bottom, T top);
template <typename T> mat<4, 4, T> ortho(T left, T right, T bottom, T top, T near_, T far_);
template <typename T, qualifier Q> mat<4, 4, T, Q> lookAt(vec<3, T, Q> const& eye, vec<3, T, Q> const& center, vec<3, T, Q> const& up);

template <typename T, qualifier Q = defaultp> struct qua {
    typedef T value_type;
    typedef qua type;
    T x, y, z, w;
    static constexpr length_t length() { return 4; }
    qua() = default;
    constexpr qua(T real, T a, T b, T c) : x(a), y(b), z(c), w(real) {}
    constexpr qua(T real, vec<3, T, Q> const& v) : x(v.x), y(v.y), z(v.z), w(real) {}
    template <typename U, qualifier P> constexpr qua(qua<U, P> const& q) : x(T(q.x)), y(T(q.y)), z(T(q.z)), w(T(q.w)) {}
    explicit qua(vec<3, T, Q> const& angles);
    explicit qua(mat<3, 3, T, Q> const& m);
    explicit qua(mat<4, 4, T, Q> const& m);
    T& operator[](length_t i) { return (&x)[i]; }
    T const& operator[](length_t i) const { return (&x)[i]; }
};
typedef qua<float> quat;
typedef qua<float> fquat;
typedef qua<double> dquat;
template <typename T, qualifier Q = defaultp> using tquat = qua<T, Q>;

#define _CUDALINT_GLM_Q qua<T, Q>
_CUDALINT_GLM_T constexpr _CUDALINT_GLM_Q operator+(_CUDALINT_GLM_Q const& a, _CUDALINT_GLM_Q const& b) { return {a.w + b.w, a.x + b.x, a.y + b.y, a.z + b.z}; }
_CUDALINT_GLM_T constexpr _CUDALINT_GLM_Q operator-(_CUDALINT_GLM_Q const& a, _CUDALINT_GLM_Q const& b) { return {a.w - b.w, a.x - b.x, a.y - b.y, a.z - b.z}; }
_CUDALINT_GLM_T constexpr _CUDALINT_GLM_Q operator-(_CUDALINT_GLM_Q const& a) { return {-a.w, -a.x, -a.y, -a.z}; }
_CUDALINT_GLM_T constexpr _CUDALINT_GLM_Q operator*(_CUDALINT_GLM_Q const& a, _cudalint_own_t<T> b) { return {a.w * b, a.x * b, a.y * b, a.z * b}; }
_CUDALINT_GLM_T constexpr _CUDALINT_GLM_Q operator*(_cudalint_own_t<T> b, _CUDALINT_GLM_Q const& a) { return a * b; }
_CUDALINT_GLM_T constexpr _CUDALINT_GLM_Q operator/(_CUDALINT_GLM_Q const& a, _cudalint_own_t<T> b) { return {a.w / b, a.x / b, a.y / b, a.z / b}; }
_CUDALINT_GLM_T constexpr _CUDALINT_GLM_Q operator*(_CUDALINT_GLM_Q const& a, _CUDALINT_GLM_Q const& b) {
    return {a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z, a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x};
}
_CUDALINT_GLM_T _CUDALINT_GLM_V(3) operator*(_CUDALINT_GLM_Q const& q, _CUDALINT_GLM_V(3) const& v) {
    _CUDALINT_GLM_V(3) axis(q.x, q.y, q.z), once = cross(axis, v);
    return v + (once * q.w + cross(axis, once)) * T(2);
}
_CUDALINT_GLM_T _CUDALINT_GLM_V(3) rotate(_CUDALINT_GLM_Q const& q, _CUDALINT_GLM_V(3) const& v) { return q * v; }
_CUDALINT_GLM_T constexpr _CUDALINT_GLM_Q conjugate(_CUDALINT_GLM_Q const& q) { return {q.w, -q.x, -q.y, -q.z}; }
_CUDALINT_GLM_T constexpr T dot(_CUDALINT_GLM_Q const& a, _CUDALINT_GLM_Q const& b) { return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z; }
_CUDALINT_GLM_T T length(_CUDALINT_GLM_Q const& q) { return T(::sqrt(dot(q, q))); }
_CUDALINT_GLM_T _CUDALINT_GLM_Q normalize(_CUDALINT_GLM_Q const& q) { return q / length(q); }
_CUDALINT_GLM_T _CUDALINT_GLM_Q inverse(_CUDALINT_GLM_Q const& q) { return conjugate(q) / dot(q, q); }
_CUDALINT_GLM_T _CUDALINT_GLM_Q slerp(_CUDALINT_GLM_Q const& a, _CUDALINT_GLM_Q const& b, T k);
_CUDALINT_GLM_T _CUDALINT_GLM_Q angleAxis(T angle, _CUDALINT_GLM_V(3) const& axis) { T s = T(::sin(angle / 2)); return {T(::cos(angle / 2)), axis * s}; }
_CUDALINT_GLM_T mat<3, 3, T, Q> mat3_cast(_CUDALINT_GLM_Q const& q) {
    return {1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y + q.w * q.z), 2 * (q.x * q.z - q.w * q.y),
            2 * (q.x * q.y - q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z + q.w * q.x),
            2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y)};
}
_CUDALINT_GLM_T mat<4, 4, T, Q> mat4_cast(_CUDALINT_GLM_Q const& q) { return mat<4, 4, T, Q>(mat3_cast(q)); }
_CUDALINT_GLM_T mat<3, 3, T, Q> toMat3(_CUDALINT_GLM_Q const& q) { return mat3_cast(q); }
_CUDALINT_GLM_T mat<4, 4, T, Q> toMat4(_CUDALINT_GLM_Q const& q) { return mat4_cast(q); }
_CUDALINT_GLM_T _CUDALINT_GLM_Q quat_cast(mat<3, 3, T, Q> const& m);
_CUDALINT_GLM_T _CUDALINT_GLM_Q quat_cast(mat<4, 4, T, Q> const& m);
_CUDALINT_GLM_T _CUDALINT_GLM_Q toQuat(mat<3, 3, T, Q> const& m) { return quat_cast(m); }
_CUDALINT_GLM_T _CUDALINT_GLM_V(3) eulerAngles(_CUDALINT_GLM_Q const& q);
template <typename T> qua<T> make_quat(T const* p) { return {p[3], p[0], p[1], p[2]}; }
template <typename V> typename V::value_type compAdd(V const& v) { return dot(v, V(1)); }
_CUDALINT_GLM_T T compMax(_CUDALINT_GLM_V(3) const& v) { return max(max(v.x, v.y), v.z); }
_CUDALINT_GLM_T T compMin(_CUDALINT_GLM_V(3) const& v) { return min(min(v.x, v.y), v.z); }
template <typename V> std::string to_string(V const& v);
template <typename V, typename W, typename T> bool intersectRayTriangle(V const& origin, V const& direction, V const& a, V const& b, V const& c, W& barycentric, T& distance);
template <typename V, typename T> bool intersectRaySphere(V const& origin, V const& direction, V const& center, T radius, V& place, V& normal);
_CUDALINT_GLM_T T* value_ptr(_CUDALINT_GLM_Q& q) { return &q.x; }

}  // namespace glm
#pragma clang force_cuda_host_device end
