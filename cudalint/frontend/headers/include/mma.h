#pragma once
#pragma clang force_cuda_host_device begin
#include "cuda_fp16.h"
#include "cuda_bf16.h"
namespace nvcuda {
namespace wmma {
struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
struct u4;
struct s4;
struct b1;
}  // namespace precision
namespace experimental {
namespace precision = wmma::precision;
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental
template <class _T> struct _storage { typedef _T type; };
template <> struct _storage<precision::tf32> { typedef float type; };
template <> struct _storage<precision::u4> { typedef unsigned type; };
template <> struct _storage<precision::s4> { typedef int type; };
template <> struct _storage<precision::b1> { typedef unsigned type; };
/// How many elements of a fragment one thread holds; operands of 16-bit types are held twice before sm_80.
template <class Use, int _M, int _N, int _K> struct _elements;
template <int _M, int _N, int _K> struct _elements<matrix_a, _M, _N, _K> { static constexpr int count = _M * _K / 32 ? _M * _K / 16 : 1; };
template <int _M, int _N, int _K> struct _elements<matrix_b, _M, _N, _K> { static constexpr int count = _N * _K / 32 ? _N * _K / 16 : 1; };
template <int _M, int _N, int _K> struct _elements<accumulator, _M, _N, _K> { static constexpr int count = _M * _N / 32; };
template <class Use, int _M, int _N, int _K, class _T, class Layout = void> struct fragment {
    typedef typename _storage<_T>::type element_type;
    typedef element_type storage_element_type;
    static constexpr int num_elements = _elements<Use, _M, _N, _K>::count;
    static constexpr int num_storage_elements = num_elements;
    element_type x[num_elements];
};
template <class _U, int _M, int _N, int _K, class _T, class _L, class _P> void load_matrix_sync(fragment<_U, _M, _N, _K, _T, _L>&, const _P* source, unsigned stride);
template <class _U, int _M, int _N, int _K, class _T, class _P> void load_matrix_sync(fragment<_U, _M, _N, _K, _T>&, const _P* source, unsigned stride, layout_t);
template <class _U, int _M, int _N, int _K, class _T, class _P> void store_matrix_sync(_P* target, const fragment<_U, _M, _N, _K, _T>&, unsigned stride, layout_t);
template <class _U, int _M, int _N, int _K, class _T, class _L, class _V> void fill_fragment(fragment<_U, _M, _N, _K, _T, _L>&, const _V&);
template <class _D, class _A, class _B, class _C> void mma_sync(_D&, const _A&, const _B&, const _C&, bool saturate = false);
template <class _D, class _A, class _B, class _C> void bmma_sync(_D&, const _A&, const _B&, const _C&, experimental::bmmaBitOp = experimental::bmmaBitOpXOR, experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC);
float __float_to_tf32(float);
}  // namespace wmma
}  // namespace nvcuda
float __float_to_tf32(float);
#pragma clang force_cuda_host_device end
