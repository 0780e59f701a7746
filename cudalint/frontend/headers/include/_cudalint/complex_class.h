#pragma once
#pragma clang force_cuda_host_device begin
// `complex` for std, cuda::std and thrust: the same class in three namespaces. Thrust's and libcu++'s are aligned to
// both parts together, so that the compiler moves them at once; the host's own is aligned to one.
#define _CUDALINT_COMPLEX(ALIGNMENT)                                                                        \
    template <class _T> struct ALIGNMENT complex {                                                          \
        typedef _T value_type;                                                                              \
        constexpr complex(_T re = _T(), _T im = _T()) : re(re), im(im) {}                                   \
        template <class _U> constexpr complex(const complex<_U>& z) : re(_T(z.real())), im(_T(z.imag())) {} \
        constexpr _T real() const { return re; }                                                            \
        constexpr _T imag() const { return im; }                                                            \
        constexpr void real(_T value) { re = value; }                                                       \
        constexpr void imag(_T value) { im = value; }                                                       \
        template <class _U> complex& operator=(const _U&);                                                  \
        template <class _U> complex& operator+=(const _U&);                                                 \
        template <class _U> complex& operator-=(const _U&);                                                 \
        template <class _U> complex& operator*=(const _U&);                                                 \
        template <class _U> complex& operator/=(const _U&);                                                 \
        _T re, im;                                                                                          \
    };                                                                                                      \
    _CUDALINT_COMPLEX_OPERATOR(+)                                                                           \
    _CUDALINT_COMPLEX_OPERATOR(-)                                                                           \
    _CUDALINT_COMPLEX_OPERATOR(*)                                                                           \
    _CUDALINT_COMPLEX_OPERATOR(/)                                                                           \
    template <class _T> complex<_T> operator+(const complex<_T>&);                                          \
    template <class _T> complex<_T> operator-(const complex<_T>&);                                          \
    template <class _T> bool operator==(const complex<_T>&, const complex<_T>&);                            \
    template <class _T> bool operator!=(const complex<_T>&, const complex<_T>&);                            \
    template <class _T> bool operator==(const complex<_T>&, const _cudalint::same<_T>&);                    \
    template <class _T> bool operator!=(const complex<_T>&, const _cudalint::same<_T>&);                    \
    template <class _T> constexpr _T real(const complex<_T>& z) { return z.real(); }                        \
    template <class _T> constexpr _T imag(const complex<_T>& z) { return z.imag(); }                        \
    template <class _T> _T abs(const complex<_T>&);                                                         \
    template <class _T> _T arg(const complex<_T>&);                                                         \
    template <class _T> _T norm(const complex<_T>&);                                                        \
    template <class _T> complex<_T> conj(const complex<_T>&);                                               \
    template <class _T> complex<_T> proj(const complex<_T>&);                                               \
    template <class _T> complex<_T> polar(const _T&, const _T& = _T());                                     \
    template <class _T> complex<_T> exp(const complex<_T>&);                                                \
    template <class _T> complex<_T> log(const complex<_T>&);                                                \
    template <class _T> complex<_T> sqrt(const complex<_T>&);                                               \
    template <class _T> complex<_T> sin(const complex<_T>&);                                                \
    template <class _T> complex<_T> cos(const complex<_T>&);                                                \
    template <class _T> complex<_T> tan(const complex<_T>&);                                                \
    template <class _T> complex<_T> sinh(const complex<_T>&);                                               \
    template <class _T> complex<_T> cosh(const complex<_T>&);                                               \
    template <class _T> complex<_T> tanh(const complex<_T>&);                                               \
    template <class _T, class _U> complex<_T> pow(const complex<_T>&, const _U&);
#define _CUDALINT_COMPLEX_OPERATOR(OP)                                                                      \
    template <class _T> complex<_T> operator OP(const complex<_T>&, const complex<_T>&);                    \
    template <class _T> complex<_T> operator OP(const complex<_T>&, const _cudalint::same<_T>&);            \
    template <class _T> complex<_T> operator OP(const _cudalint::same<_T>&, const complex<_T>&);
#pragma clang force_cuda_host_device end
