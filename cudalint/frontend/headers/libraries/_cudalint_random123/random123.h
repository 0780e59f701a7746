// Generators that compute a number from a counter and a key (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC11): types with their sizes. What is drawn is nobody's concern here.
#pragma once
#include <limits>
#include <stdint.h>
#include <type_traits>
#pragma clang force_cuda_host_device begin
#define R123_CONSTEXPR constexpr
#define R123_STATIC_INLINE static inline
#define R123_FORCE_INLINE(_declaration) _declaration
#define R123_CUDA_DEVICE __host__ __device__
#define R123_METAL_THREAD_ADDRESS_SPACE
#define R123_ASSERT(_condition)
#define R123_USE_64BIT 1
template <class _C, class _K> uint64_t _cudalint_drawn(const _C& counter, const _K& key, unsigned number);
namespace r123 {
template <class _T, unsigned _N> struct _cudalint_array {
  _T v[_N];
  typedef _T value_type;
  typedef unsigned size_type;
  enum { static_size = _N };
  static constexpr size_type size() { return _N; }
  _T& operator[](size_type i) { return v[i]; }
  const _T& operator[](size_type i) const { return v[i]; }
  _T& at(size_type i) { return v[i]; }
  _T* begin() { return v; }
  _T* end() { return v + _N; }
  _T* data() { return v; }
  void fill(const _T& value) { for (size_type i = 0; i < _N; ++i) v[i] = value; }
  _cudalint_array& incr(uint64_t n = 1) { v[0] += n; return *this; }
  bool operator==(const _cudalint_array& other) const { return v[0] == other.v[0]; }
  bool operator!=(const _cudalint_array& other) const { return v[0] != other.v[0]; }
};
template <class _T, unsigned _N, unsigned _KEYS> struct _cudalint_generator {
  typedef _cudalint_array<_T, _N> ctr_type;
  typedef _cudalint_array<_T, _KEYS> key_type;
  typedef key_type ukey_type;
  ctr_type operator()(ctr_type counter, key_type key) const {
    ctr_type drawn;
    for (unsigned i = 0; i < _N; ++i) drawn.v[i] = static_cast<_T>(_cudalint_drawn(counter, key, i));
    return drawn;
  }
};
}
typedef r123::_cudalint_array<uint32_t, 1> r123array1x32;
typedef r123::_cudalint_array<uint32_t, 2> r123array2x32;
typedef r123::_cudalint_array<uint32_t, 4> r123array4x32;
typedef r123::_cudalint_array<uint64_t, 1> r123array1x64;
typedef r123::_cudalint_array<uint64_t, 2> r123array2x64;
typedef r123::_cudalint_array<uint64_t, 4> r123array4x64;
namespace r123 {
typedef _cudalint_generator<uint32_t, 2, 1> Philox2x32;
typedef _cudalint_generator<uint32_t, 4, 2> Philox4x32;
typedef _cudalint_generator<uint64_t, 2, 1> Philox2x64;
typedef _cudalint_generator<uint64_t, 4, 2> Philox4x64;
typedef _cudalint_generator<uint32_t, 2, 2> Threefry2x32;
typedef _cudalint_generator<uint32_t, 4, 4> Threefry4x32;
typedef _cudalint_generator<uint64_t, 2, 2> Threefry2x64;
typedef _cudalint_generator<uint64_t, 4, 4> Threefry4x64;
template <unsigned _ROUNDS> struct Philox2x32_R : Philox2x32 {};
template <unsigned _ROUNDS> struct Philox4x32_R : Philox4x32 {};
template <unsigned _ROUNDS> struct Philox2x64_R : Philox2x64 {};
template <unsigned _ROUNDS> struct Philox4x64_R : Philox4x64 {};
template <unsigned _ROUNDS> struct Threefry2x32_R : Threefry2x32 {};
template <unsigned _ROUNDS> struct Threefry4x32_R : Threefry4x32 {};
template <unsigned _ROUNDS> struct Threefry2x64_R : Threefry2x64 {};
template <unsigned _ROUNDS> struct Threefry4x64_R : Threefry4x64 {};
}
#pragma clang force_cuda_host_device end
