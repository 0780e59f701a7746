#pragma once
#pragma clang force_cuda_host_device begin
// `complex` for std, cuda::std and thrust: the same class in three namespaces.
#define _CUDALINT_COMPLEX                                                                                   \
    template <class T> struct complex {                                                                     \
        typedef T value_type;                                                                               \
        constexpr complex(T re = T(), T im = T()) : re(re), im(im) {}                                       \
        template <class U> constexpr complex(const complex<U>& z) : re(T(z.real())), im(T(z.imag())) {}     \
        constexpr T real() const { return re; }                                                             \
        constexpr T imag() const { return im; }                                                             \
        constexpr void real(T value) { re = value; }                                                        \
        constexpr void imag(T value) { im = value; }                                                        \
        template <class U> complex& operator=(const U&);                                                    \
        template <class U> complex& operator+=(const U&);                                                   \
        template <class U> complex& operator-=(const U&);                                                   \
        template <class U> complex& operator*=(const U&);                                                   \
        template <class U> complex& operator/=(const U&);                                                   \
        T re, im;                                                                                           \
    };                                                                                                      \
    _CUDALINT_COMPLEX_OPERATOR(+)                                                                           \
    _CUDALINT_COMPLEX_OPERATOR(-)                                                                           \
    _CUDALINT_COMPLEX_OPERATOR(*)                                                                           \
    _CUDALINT_COMPLEX_OPERATOR(/)                                                                           \
    template <class T> complex<T> operator+(const complex<T>&);                                             \
    template <class T> complex<T> operator-(const complex<T>&);                                             \
    template <class T> bool operator==(const complex<T>&, const complex<T>&);                               \
    template <class T> bool operator!=(const complex<T>&, const complex<T>&);                               \
    template <class T> bool operator==(const complex<T>&, const _cudalint::same<T>&);                       \
    template <class T> bool operator!=(const complex<T>&, const _cudalint::same<T>&);                       \
    template <class T> constexpr T real(const complex<T>& z) { return z.real(); }                           \
    template <class T> constexpr T imag(const complex<T>& z) { return z.imag(); }                           \
    template <class T> T abs(const complex<T>&);                                                            \
    template <class T> T arg(const complex<T>&);                                                            \
    template <class T> T norm(const complex<T>&);                                                           \
    template <class T> complex<T> conj(const complex<T>&);                                                  \
    template <class T> complex<T> proj(const complex<T>&);                                                  \
    template <class T> complex<T> polar(const T&, const T& = T());                                          \
    template <class T> complex<T> exp(const complex<T>&);                                                   \
    template <class T> complex<T> log(const complex<T>&);                                                   \
    template <class T> complex<T> sqrt(const complex<T>&);                                                  \
    template <class T> complex<T> sin(const complex<T>&);                                                   \
    template <class T> complex<T> cos(const complex<T>&);                                                   \
    template <class T> complex<T> tan(const complex<T>&);                                                   \
    template <class T> complex<T> sinh(const complex<T>&);                                                  \
    template <class T> complex<T> cosh(const complex<T>&);                                                  \
    template <class T> complex<T> tanh(const complex<T>&);                                                  \
    template <class T, class U> complex<T> pow(const complex<T>&, const U&);
#define _CUDALINT_COMPLEX_OPERATOR(OP)                                                                      \
    template <class T> complex<T> operator OP(const complex<T>&, const complex<T>&);                        \
    template <class T> complex<T> operator OP(const complex<T>&, const _cudalint::same<T>&);                \
    template <class T> complex<T> operator OP(const _cudalint::same<T>&, const complex<T>&);
#pragma clang force_cuda_host_device end
