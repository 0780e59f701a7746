// The numeric types of CUTLASS with arrays and functions of them: what kernels that are no CUTLASS kernels take of it.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <type_traits>
#pragma clang force_cuda_host_device begin
#define CUTLASS_HOST_DEVICE __forceinline__ __device__ __host__
#define CUTLASS_DEVICE __forceinline__ __device__
#define CUTLASS_GLOBAL __global__ static
#define CUTLASS_HOST __host__
#define CUTLASS_PRAGMA_UNROLL _Pragma("unroll")
#define CUTLASS_PRAGMA_NO_UNROLL _Pragma("unroll 1")
#define CUTLASS_GEMM_LOOP CUTLASS_PRAGMA_NO_UNROLL
#define CUTE_HOST_DEVICE __forceinline__ __host__ __device__
#define CUTE_DEVICE __forceinline__ __device__
#define CUTE_HOST __forceinline__ __host__
#define CUTE_UNROLL _Pragma("unroll")
#define CUTE_NO_UNROLL _Pragma("unroll 1")
namespace cutlass {
static const int NumThreadsPerWarp = 32;
#define _CUDALINT_NUMBER(NAME, STORAGE, NATIVE)                                                             \
    struct alignas(sizeof(STORAGE)) NAME {                                                                  \
        STORAGE storage;                                                                                    \
        NAME() = default;                                                                                   \
        template <class _T> explicit NAME(_T);                                                              \
        explicit NAME(NATIVE);                                                                              \
        operator float() const;                                                                             \
        explicit operator int() const;                                                                      \
        NATIVE to_half() const;                                                                             \
        STORAGE& raw() { return storage; }                                                                  \
        STORAGE raw() const { return storage; }                                                             \
        static NAME bitcast(STORAGE);                                                                       \
    };
_CUDALINT_NUMBER(half_t, unsigned short, __half)
_CUDALINT_NUMBER(bfloat16_t, unsigned short, __nv_bfloat16)
_CUDALINT_NUMBER(tfloat32_t, unsigned, float)
_CUDALINT_NUMBER(float_e4m3_t, unsigned char, __nv_fp8_e4m3)
_CUDALINT_NUMBER(float_e5m2_t, unsigned char, __nv_fp8_e5m2)
_CUDALINT_NUMBER(float_ue8m0_t, unsigned char, __nv_fp8_e8m0)
_CUDALINT_NUMBER(float_ue4m3_t, unsigned char, __nv_fp8_e4m3)
#undef _CUDALINT_NUMBER
template <int Bits, bool Signed> struct integer_subbyte {
    unsigned char storage;
    integer_subbyte() = default;
    integer_subbyte(int);
    operator int() const;
};
struct float_e2m1_t : integer_subbyte<4, true> {};
typedef integer_subbyte<4, true> int4b_t;
typedef integer_subbyte<4, false> uint4b_t;
typedef integer_subbyte<2, true> int2b_t;
typedef integer_subbyte<2, false> uint2b_t;
typedef integer_subbyte<1, false> uint1b_t;
template <class _T> struct sizeof_bits { static constexpr int value = int(sizeof(_T) * 8); };
template <int Bits, bool Signed> struct sizeof_bits<integer_subbyte<Bits, Signed>> { static constexpr int value = Bits; };
template <> struct sizeof_bits<float_e2m1_t> { static constexpr int value = 4; };
template <> struct sizeof_bits<bool> { static constexpr int value = 1; };
template <class _T> struct sizeof_bits<const _T> : sizeof_bits<_T> {};
template <class _T> inline constexpr int sizeof_bits_v = sizeof_bits<_T>::value;

template <class _T, int _N, bool Whole = sizeof_bits<_T>::value >= 8> struct Array {
    typedef _T Element;
    typedef _T value_type;
    static constexpr int kElements = _N;
    static constexpr size_t kStorageElements = _N;
    _T storage[_N];
    _T& operator[](int i) { return storage[i]; }
    const _T& operator[](int i) const { return storage[i]; }
    _T& at(int i) { return storage[i]; }
    _T* data() { return storage; }
    const _T* data() const { return storage; }
    _T* raw_data() { return storage; }
    constexpr int size() const { return _N; }
    void clear()
    {
        for (int i = 0; i < _N; ++i) storage[i] = _T(0);
    }
    void fill(const _T& value)
    {
        for (int i = 0; i < _N; ++i) storage[i] = value;
    }
};
template <class _T, int _N> struct Array<_T, _N, false> {
    typedef _T Element;
    static constexpr int kElements = _N;
    unsigned char storage[(_N * sizeof_bits<_T>::value + 7) / 8];
    _T operator[](int) const;
    constexpr int size() const { return _N; }
};
template <class _T, int _N, int Bytes = sizeof_bits<_T>::value * _N / 8> struct alignas(Bytes) AlignedArray : Array<_T, _N> {};
template <class _T, class _S, int _N = 1> struct NumericArrayConverter {
    Array<_T, _N> operator()(const Array<_S, _N>& source) const
    {
        Array<_T, _N> result;
        for (int i = 0; i < _N; ++i) result[i] = _T(source[i]);
        return result;
    }
};
template <class _T, class _S> struct NumericConverter {
    _T operator()(const _S& source) const { return _T(source); }
};
#define _CUDALINT_OPERATION(NAME, RESULT) \
    template <class _T> struct NAME { _T operator()(const _T& a, const _T& b) const { return RESULT; } };
_CUDALINT_OPERATION(plus, a + b)
_CUDALINT_OPERATION(minus, a - b)
_CUDALINT_OPERATION(multiplies, a * b)
_CUDALINT_OPERATION(divides, a / b)
#undef _CUDALINT_OPERATION
template <class _T, bool PropagateNaN = false> struct maximum {
    _T operator()(const _T& a, const _T& b) const { return a < b ? b : a; }
};
template <class _T, bool PropagateNaN = false> struct minimum {
    _T operator()(const _T& a, const _T& b) const { return b < a ? b : a; }
};
template <class _A, class _B = _A, class _C = _A> struct multiply_add {
    _C operator()(const _A& a, const _B& b, const _C& c) const { return a * b + c; }
};
struct FastDivmod {
    int divisor;
    FastDivmod() = default;
    FastDivmod(int divisor) : divisor(divisor) {}
    void operator()(int& quotient, int& remainder, int dividend) const
    {
        quotient = dividend / divisor;
        remainder = dividend % divisor;
    }
    int div(int dividend) const { return dividend / divisor; }
    int rem(int dividend) const { return dividend % divisor; }
};
template <class _T> constexpr _T const_max(_T a, _T b) { return a < b ? b : a; }
template <class _T> constexpr _T const_min(_T a, _T b) { return b < a ? b : a; }
template <class _T> constexpr _T ceil_div(_T a, _T b) { return (a + b - 1) / b; }
namespace arch {
// Grids that begin before the one in front of them has ended: no matter for a kernel by itself.
inline void launch_dependent_grids() {}
inline void wait_on_dependent_grids() {}
}  // namespace arch
namespace epilogue {
namespace thread {
#define _CUDALINT_ACTIVATION(NAME) template <class _T> struct NAME { _T operator()(const _T& value) const { return value; } };
_CUDALINT_ACTIVATION(Identity)
_CUDALINT_ACTIVATION(ReLu)
_CUDALINT_ACTIVATION(ReLU)
_CUDALINT_ACTIVATION(Sigmoid)
_CUDALINT_ACTIVATION(SiLu)
_CUDALINT_ACTIVATION(GELU)
_CUDALINT_ACTIVATION(GELU_taylor)
_CUDALINT_ACTIVATION(Tanh)
_CUDALINT_ACTIVATION(HardSwish)
#undef _CUDALINT_ACTIVATION
}  // namespace thread
}  // namespace epilogue
}  // namespace cutlass
namespace cute {
using cutlass::bfloat16_t;
using cutlass::float_e2m1_t;
using cutlass::float_e4m3_t;
using cutlass::float_e5m2_t;
using cutlass::half_t;
using cutlass::int4b_t;
using cutlass::sizeof_bits;
using cutlass::sizeof_bits_v;
using cutlass::tfloat32_t;
using cutlass::uint4b_t;
}  // namespace cute
#pragma clang force_cuda_host_device end
