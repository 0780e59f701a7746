// Tensors as kernels get them: a pointer with sizes and strides.
#pragma once
#pragma clang force_cuda_host_device begin
#include "scalars.h"

/// Returns its first argument, a tensor's stride along a dimension: the innermost one, another, or one of which that
/// is not known. The elements of a row are taken to lie side by side, which findings that rest on it say.
enum _cudalint_dimension { _cudalint_any, _cudalint_outer, _cudalint_inner };
int64_t _cudalint_stride(int64_t stride, _cudalint_dimension);

namespace at {
template <class _T> struct DefaultPtrTraits { typedef _T* PtrType; };
template <class _T> struct RestrictPtrTraits { typedef _T* __restrict__ PtrType; };

/// The strides of a tensor of _N dimensions, by themselves or where _From leads: numbers that are known for what they
/// are, wherever they are read.
template <size_t _N, class _I, class _From> struct _cudalint_strides {
    _From _cudalint_from;
    template <class _X> _I operator[](_X i) const {
        return (_I)_cudalint_stride(_cudalint_from[i], i + 1 < (_X)_N ? _cudalint_outer : _cudalint_inner);
    }
    operator const _I*() const { return _cudalint_from; }
};

template <class _T, size_t _N, template <class> class _P = DefaultPtrTraits, class _I = int64_t>
class TensorAccessorBase {
public:
    typedef typename _P<_T>::PtrType PtrType;
    TensorAccessorBase(PtrType data, const _I* sizes, const _I* strides)
        : data_(data), sizes_(sizes), strides_{strides} {}
    _I size(_I i) const { return sizes_[i]; }
    _I stride(_I i) const { return strides_[i]; }
    const _I* sizes() const { return sizes_; }
    const _I* strides() const { return strides_; }
    PtrType data() const { return data_; }

protected:
    PtrType data_;
    const _I* sizes_;
    _cudalint_strides<_N, _I, const _I*> strides_;
};
template <class _T, size_t _N, template <class> class _P = DefaultPtrTraits, class _I = int64_t>
class TensorAccessor : public TensorAccessorBase<_T, _N, _P, _I> {
public:
    typedef typename _P<_T>::PtrType PtrType;
    TensorAccessor(PtrType data, const _I* sizes, const _I* strides)
        : TensorAccessorBase<_T, _N, _P, _I>(data, sizes, strides) {}
    TensorAccessor<_T, _N - 1, _P, _I> operator[](_I i) const {
        const _I offset = this->strides_[0] * i;
        return TensorAccessor<_T, _N - 1, _P, _I>(this->data_ + offset, this->sizes_ + 1, this->strides_ + 1);
    }
};
template <class _T, template <class> class _P, class _I>
class TensorAccessor<_T, 1, _P, _I> : public TensorAccessorBase<_T, 1, _P, _I> {
public:
    typedef typename _P<_T>::PtrType PtrType;
    TensorAccessor(PtrType data, const _I* sizes, const _I* strides)
        : TensorAccessorBase<_T, 1, _P, _I>(data, sizes, strides) {}
    _T& operator[](_I i) const { return this->data_[this->strides_[0] * i]; }
};

template <class _T, size_t _N, template <class> class _P = DefaultPtrTraits, class _I = int64_t>
class GenericPackedTensorAccessorBase {
public:
    typedef typename _P<_T>::PtrType PtrType;
    template <class _S> GenericPackedTensorAccessorBase(PtrType data, const _S* from, const _S* by) : data_(data) {
        for (size_t i = 0; i < _N; ++i) {
            sizes_[i] = from[i];
            strides_._cudalint_from[i] = by[i];
        }
    }
    _I size(_I i) const { return sizes_[i]; }
    _I stride(_I i) const { return strides_[i]; }
    PtrType data() const { return data_; }

protected:
    PtrType data_;
    _I sizes_[_N];
    _cudalint_strides<_N, _I, _I[_N]> strides_;
};
template <class _T, size_t _N, template <class> class _P = DefaultPtrTraits, class _I = int64_t>
class GenericPackedTensorAccessor : public GenericPackedTensorAccessorBase<_T, _N, _P, _I> {
public:
    typedef typename _P<_T>::PtrType PtrType;
    template <class _S> GenericPackedTensorAccessor(PtrType data, const _S* from, const _S* by)
        : GenericPackedTensorAccessorBase<_T, _N, _P, _I>(data, from, by) {}
    TensorAccessor<_T, _N - 1, _P, _I> operator[](_I i) const {
        const _I offset = this->strides_[0] * i;
        return TensorAccessor<_T, _N - 1, _P, _I>(this->data_ + offset, this->sizes_ + 1, this->strides_ + 1);
    }
};
template <class _T, template <class> class _P, class _I>
class GenericPackedTensorAccessor<_T, 1, _P, _I> : public GenericPackedTensorAccessorBase<_T, 1, _P, _I> {
public:
    typedef typename _P<_T>::PtrType PtrType;
    template <class _S> GenericPackedTensorAccessor(PtrType data, const _S* from, const _S* by)
        : GenericPackedTensorAccessorBase<_T, 1, _P, _I>(data, from, by) {}
    _T& operator[](_I i) const { return this->data_[this->strides_[0] * i]; }
};
template <class _T, size_t _N, template <class> class _P = DefaultPtrTraits, class _I = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<_T, _N, _P, _I>;
template <class _T, size_t _N, template <class> class _P = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<_T, _N, _P, int32_t>;
template <class _T, size_t _N, template <class> class _P = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<_T, _N, _P, int64_t>;
}  // namespace at
#pragma clang force_cuda_host_device end
