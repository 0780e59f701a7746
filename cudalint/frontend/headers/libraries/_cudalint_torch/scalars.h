// The element types of tensors, and what they are computed in.
//
// Everything in this folder is cudalint's own: names and signatures of PyTorch as far as CUDA files use them, for where
// PyTorch itself is not found. What decides launches and addresses has a body, because the evaluator inlines it.
#pragma once
#pragma clang force_cuda_host_device begin
#include <cmath>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <limits>
#include <stdint.h>
#include <type_traits>

#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_MAX_THREADS_PER_BLOCK(threads) ((threads) <= 1024 ? (threads) : 256)
#define C10_MIN_BLOCKS_PER_SM(threads, blocks)                                                              \
    ((threads) * (blocks) <= 2048 ? (blocks) : (2048 + (threads)-1) / (threads))
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(C10_MAX_THREADS_PER_BLOCK(threads))
#define C10_LAUNCH_BOUNDS_2(threads, blocks)                                                                \
    __launch_bounds__(C10_MAX_THREADS_PER_BLOCK(threads), C10_MIN_BLOCKS_PER_SM(threads, blocks))
#define C10_WARP_SIZE 32
#define C10_ALWAYS_INLINE __attribute__((always_inline)) inline
#define C10_NOINLINE __attribute__((noinline))
#define C10_RESTRICT __restrict
#define C10_UNUSED __attribute__((unused))
#define C10_NODISCARD
#define C10_LIKELY(condition) (condition)
#define C10_UNLIKELY(condition) (condition)
#define C10_HOST_CONSTEXPR constexpr
#define C10_CONCATENATE_IMPL(a, b) a##b
#define C10_CONCATENATE(a, b) C10_CONCATENATE_IMPL(a, b)
#define C10_STRINGIZE_IMPL(x) #x
#define C10_STRINGIZE(x) C10_STRINGIZE_IMPL(x)
#define C10_EXPORT
#define C10_HIDDEN
#define C10_API
#define C10_CUDA_API
#define TORCH_API
#define TORCH_CUDA_API
#define TORCH_CUDA_CU_API
#define TORCH_CUDA_CPP_API

namespace c10 {
// A type of 16 or 8 bits that computes as `float`.
#define _CUDALINT_SMALL(NAME, BITS, MORE)                                                                   \
    struct alignas(sizeof(BITS)) NAME {                                                                     \
        BITS x;                                                                                             \
        struct from_bits_t {};                                                                              \
        static constexpr from_bits_t from_bits() { return from_bits_t(); }                                  \
        NAME() = default;                                                                                   \
        constexpr NAME(BITS bits, from_bits_t) : x(bits) {}                                                 \
        NAME(float);                                                                                        \
        operator float() const;                                                                             \
        MORE                                                                                                \
    };                                                                                                      \
    NAME operator+(const NAME&, const NAME&);                                                               \
    NAME operator-(const NAME&, const NAME&);                                                               \
    NAME operator*(const NAME&, const NAME&);                                                               \
    NAME operator/(const NAME&, const NAME&);                                                               \
    NAME operator-(const NAME&);                                                                            \
    NAME& operator+=(NAME&, const NAME&);                                                                   \
    NAME& operator-=(NAME&, const NAME&);                                                                   \
    NAME& operator*=(NAME&, const NAME&);                                                                   \
    NAME& operator/=(NAME&, const NAME&);                                                                   \
    float& operator+=(float&, const NAME&);                                                                 \
    float& operator-=(float&, const NAME&);                                                                 \
    float& operator*=(float&, const NAME&);                                                                 \
    float& operator/=(float&, const NAME&);                                                                 \
    _CUDALINT_COMPARED(NAME, NAME)                                                                          \
    _CUDALINT_COMPARED(NAME, float)                                                                         \
    _CUDALINT_COMPARED(float, NAME)                                                                         \
    _CUDALINT_COMPARED(NAME, double)                                                                        \
    _CUDALINT_COMPARED(NAME, int)                                                                           \
    _CUDALINT_MIXED(NAME, float, float)                                                                     \
    _CUDALINT_MIXED(NAME, double, double)                                                                   \
    _CUDALINT_MIXED(NAME, int, NAME)                                                                        \
    _CUDALINT_MIXED(NAME, int64_t, NAME)
#define _CUDALINT_COMPARED(A, B)                                                                            \
    bool operator<(A, B);                                                                                   \
    bool operator>(A, B);                                                                                   \
    bool operator<=(A, B);                                                                                  \
    bool operator>=(A, B);                                                                                  \
    bool operator==(A, B);                                                                                  \
    bool operator!=(A, B);
#define _CUDALINT_MIXED(NAME, OTHER, RESULT)                                                                \
    RESULT operator+(NAME, OTHER);                                                                          \
    RESULT operator-(NAME, OTHER);                                                                          \
    RESULT operator*(NAME, OTHER);                                                                          \
    RESULT operator/(NAME, OTHER);                                                                          \
    RESULT operator+(OTHER, NAME);                                                                          \
    RESULT operator-(OTHER, NAME);                                                                          \
    RESULT operator*(OTHER, NAME);                                                                          \
    RESULT operator/(OTHER, NAME);
_CUDALINT_SMALL(Half, unsigned short, Half(const __half&); operator __half() const;)
_CUDALINT_SMALL(BFloat16, unsigned short, BFloat16(const __nv_bfloat16&); operator __nv_bfloat16() const;)
_CUDALINT_SMALL(Float8_e4m3fn, unsigned char, )
_CUDALINT_SMALL(Float8_e4m3fnuz, unsigned char, )
_CUDALINT_SMALL(Float8_e5m2, unsigned char, )
_CUDALINT_SMALL(Float8_e5m2fnuz, unsigned char, )
#undef _CUDALINT_SMALL
#undef _CUDALINT_MIXED
#undef _CUDALINT_COMPARED

template <class _T> struct alignas(2 * sizeof(_T)) complex {
    typedef _T value_type;
    _T real_, imag_;
    constexpr complex(_T re = _T(), _T im = _T()) : real_(re), imag_(im) {}
    template <class _U> constexpr complex(const complex<_U>& z) : real_(_T(z.real_)), imag_(_T(z.imag_)) {}
    constexpr _T real() const { return real_; }
    constexpr _T imag() const { return imag_; }
    complex& operator+=(const complex&);
    complex& operator-=(const complex&);
    complex& operator*=(const complex&);
    complex& operator/=(const complex&);
};
template <class _T> complex<_T> operator+(const complex<_T>&, const complex<_T>&);
template <class _T> complex<_T> operator-(const complex<_T>&, const complex<_T>&);
template <class _T> complex<_T> operator*(const complex<_T>&, const complex<_T>&);
template <class _T> complex<_T> operator/(const complex<_T>&, const complex<_T>&);
template <class _T> complex<_T> operator*(const complex<_T>&, const _cudalint::same<_T>&);
template <class _T> complex<_T> operator*(const _cudalint::same<_T>&, const complex<_T>&);
template <class _T> complex<_T> operator-(const complex<_T>&);
template <class _T> bool operator==(const complex<_T>&, const complex<_T>&);
template <class _T> bool operator!=(const complex<_T>&, const complex<_T>&);
}  // namespace c10
namespace std {
template <class _T> constexpr _T real(const c10::complex<_T>& z) { return z.real_; }
template <class _T> constexpr _T imag(const c10::complex<_T>& z) { return z.imag_; }
template <class _T> constexpr c10::complex<_T> conj(const c10::complex<_T>& z) { return c10::complex<_T>(z.real_, -z.imag_); }
template <class _T> _T abs(const c10::complex<_T>&);
}  // namespace std
namespace c10 {

struct qint8 { typedef int8_t underlying; int8_t val_; };
struct quint8 { typedef uint8_t underlying; uint8_t val_; };
struct qint32 { typedef int32_t underlying; int32_t val_; };

// As PyTorch numbers them: the names, the element types, and the constants for them.
#define _CUDALINT_SCALAR_TYPES(_M)                                                                          \
    _M(uint8_t, Byte) _M(int8_t, Char) _M(int16_t, Short) _M(int, Int) _M(int64_t, Long) _M(c10::Half, Half) \
    _M(float, Float) _M(double, Double) _M(c10::complex<c10::Half>, ComplexHalf)                            \
    _M(c10::complex<float>, ComplexFloat) _M(c10::complex<double>, ComplexDouble) _M(bool, Bool)            \
    _M(c10::qint8, QInt8) _M(c10::quint8, QUInt8) _M(c10::qint32, QInt32) _M(c10::BFloat16, BFloat16)
#define _CUDALINT_NARROW_TYPES(_M)                                                                          \
    _M(c10::Float8_e5m2, Float8_e5m2) _M(c10::Float8_e4m3fn, Float8_e4m3fn)                                 \
    _M(c10::Float8_e5m2fnuz, Float8_e5m2fnuz) _M(c10::Float8_e4m3fnuz, Float8_e4m3fnuz)                     \
    _M(uint16_t, UInt16) _M(uint32_t, UInt32) _M(uint64_t, UInt64)
#define _CUDALINT_NAMED(TYPE, NAME) NAME,
enum class ScalarType : int8_t {
    _CUDALINT_SCALAR_TYPES(_CUDALINT_NAMED) QUInt4x2, QUInt2x4, Bits1x8, Bits2x4, Bits4x2, Bits8, Bits16,
    _CUDALINT_NARROW_TYPES(_CUDALINT_NAMED) Undefined, NumOptions
};
#undef _CUDALINT_NAMED

template <class _T> struct CppTypeToScalarType;
namespace impl {
template <ScalarType _N> struct ScalarTypeToCPPType;
template <ScalarType _N> using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<_N>::type;
#define _CUDALINT_MAPPED(TYPE, NAME)                                                                        \
    template <> struct ScalarTypeToCPPType<ScalarType::NAME> { typedef TYPE type; };
_CUDALINT_SCALAR_TYPES(_CUDALINT_MAPPED)
_CUDALINT_NARROW_TYPES(_CUDALINT_MAPPED)
#undef _CUDALINT_MAPPED
}  // namespace impl
#define _CUDALINT_CONSTANT(TYPE, NAME)                                                                      \
    constexpr ScalarType k##NAME = ScalarType::NAME;                                                        \
    template <> struct CppTypeToScalarType<TYPE> { static constexpr ScalarType value = ScalarType::NAME; };
_CUDALINT_SCALAR_TYPES(_CUDALINT_CONSTANT)
_CUDALINT_NARROW_TYPES(_CUDALINT_CONSTANT)
#undef _CUDALINT_CONSTANT
#undef _CUDALINT_SCALAR_TYPES
#undef _CUDALINT_NARROW_TYPES
const char* toString(ScalarType);
size_t elementSize(ScalarType);
bool isFloatingType(ScalarType);
bool isIntegralType(ScalarType, bool = false);
}  // namespace c10

namespace std {
#define _CUDALINT_LIMITS(_T)                                                                                \
    template <> struct numeric_limits<_T> {                                                                 \
        static constexpr bool is_specialized = true, has_infinity = true, is_signed = true;                 \
        static constexpr _T lowest() { return _T(); }                                                       \
        static constexpr _T min() { return _T(); }                                                          \
        static constexpr _T max() { return _T(); }                                                          \
        static constexpr _T epsilon() { return _T(); }                                                      \
        static constexpr _T infinity() { return _T(); }                                                     \
        static constexpr _T quiet_NaN() { return _T(); }                                                    \
    };
_CUDALINT_LIMITS(c10::Half)
_CUDALINT_LIMITS(c10::BFloat16)
#undef _CUDALINT_LIMITS
}  // namespace std

namespace at {
using namespace c10;
// What sums are kept in, and what single operations are computed in.
template <class _T, bool is_cuda> struct AccumulateType { typedef _T type; };
template <class _T> struct OpMathType { typedef _T type; };
#define _CUDALINT_COMPUTED(TYPE, SUM, SINGLE)                                                               \
    template <bool is_cuda> struct AccumulateType<TYPE, is_cuda> { typedef SUM type; };                     \
    template <> struct OpMathType<TYPE> { typedef SINGLE type; };
_CUDALINT_COMPUTED(c10::Half, float, float)
_CUDALINT_COMPUTED(c10::BFloat16, float, float)
_CUDALINT_COMPUTED(c10::Float8_e4m3fn, float, float)
_CUDALINT_COMPUTED(c10::Float8_e5m2, float, float)
_CUDALINT_COMPUTED(__half, float, float)
_CUDALINT_COMPUTED(__nv_bfloat16, float, float)
_CUDALINT_COMPUTED(bool, bool, bool)
_CUDALINT_COMPUTED(int8_t, int64_t, int8_t)
_CUDALINT_COMPUTED(uint8_t, int64_t, uint8_t)
_CUDALINT_COMPUTED(int16_t, int64_t, int16_t)
_CUDALINT_COMPUTED(int32_t, int64_t, int32_t)
#undef _CUDALINT_COMPUTED
template <class _T, bool is_cuda> using acc_type = typename AccumulateType<_T, is_cuda>::type;
template <class _T> using acc_type_device = typename AccumulateType<_T, true>::type;
template <class _T> using opmath_type = typename OpMathType<_T>::type;
template <class _T> struct numeric_limits : std::numeric_limits<_T> {
    static constexpr _T lower_bound() { return std::numeric_limits<_T>::lowest(); }
    static constexpr _T upper_bound() { return std::numeric_limits<_T>::max(); }
};
}  // namespace at
#pragma clang force_cuda_host_device end
