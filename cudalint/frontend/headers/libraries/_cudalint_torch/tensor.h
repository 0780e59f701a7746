// Tensors on the host, and the functions that make them.
#pragma once
#pragma clang force_cuda_host_device begin
#include "accessors.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

/// The memory of a new tensor: no other one has it.
void* _cudalint_tensor_memory();
/// The element type of a tensor that is made of another one by something that may choose it.
c10::ScalarType _cudalint_tensor_type();

// The message doesn't matter here, but what has to hold for a program to go on does.
#define _CUDALINT_CHECK(CONDITION) \
    if (!(CONDITION)) { ::abort(); }
#define TORCH_CHECK(CONDITION, ...) _CUDALINT_CHECK(CONDITION)
#define TORCH_CHECK_WITH(ERROR, CONDITION, ...) _CUDALINT_CHECK(CONDITION)
#define TORCH_CHECK_VALUE(CONDITION, ...) _CUDALINT_CHECK(CONDITION)
#define TORCH_CHECK_TYPE(CONDITION, ...) _CUDALINT_CHECK(CONDITION)
#define TORCH_CHECK_INDEX(CONDITION, ...) _CUDALINT_CHECK(CONDITION)
#define TORCH_CHECK_NOT_IMPLEMENTED(CONDITION, ...) _CUDALINT_CHECK(CONDITION)
#define TORCH_INTERNAL_ASSERT(CONDITION, ...) _CUDALINT_CHECK(CONDITION)
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(CONDITION, ...) _CUDALINT_CHECK(CONDITION)
#define TORCH_CHECK_EQ(a, b) _CUDALINT_CHECK((a) == (b))
#define TORCH_CHECK_NE(a, b) _CUDALINT_CHECK((a) != (b))
#define TORCH_CHECK_LT(a, b) _CUDALINT_CHECK((a) < (b))
#define TORCH_CHECK_LE(a, b) _CUDALINT_CHECK((a) <= (b))
#define TORCH_CHECK_GT(a, b) _CUDALINT_CHECK((a) > (b))
#define TORCH_CHECK_GE(a, b) _CUDALINT_CHECK((a) >= (b))
#define AT_ASSERT(CONDITION, ...) _CUDALINT_CHECK(CONDITION)
#define AT_ASSERTM(CONDITION, ...) _CUDALINT_CHECK(CONDITION)
#define AT_CHECK(CONDITION, ...) _CUDALINT_CHECK(CONDITION)
#define AT_ERROR(...) ::abort()
#define TORCH_WARN(...) ((void)0)
#define TORCH_WARN_ONCE(...) ((void)0)

namespace c10 {
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::optional;
struct Error {
    Error(...);
    const char* what() const;
};

template <class _T> class ArrayRef {
public:
    typedef const _T* iterator;
    ArrayRef() : first(nullptr), count(0) {}
    ArrayRef(const _T& one) : first(&one), count(1) {}
    ArrayRef(const _T* begin, size_t size) : first(begin), count(size) {}
    ArrayRef(const _T* begin, const _T* end) : first(begin), count(end - begin) {}
    ArrayRef(const std::vector<_T>& all) : first(all.data()), count(all.size()) {}
    ArrayRef(const std::initializer_list<_T>& all) : first(all.begin()), count(all.size()) {}
    template <size_t _N> ArrayRef(const _T (&all)[_N]) : first(all), count(_N) {}
    const _T& operator[](size_t i) const { return first[i]; }
    const _T& front() const { return first[0]; }
    const _T& back() const { return first[count - 1]; }
    const _T* begin() const { return first; }
    const _T* end() const { return first + count; }
    const _T* data() const { return first; }
    size_t size() const { return count; }
    bool empty() const { return count == 0; }
    ArrayRef slice(size_t, size_t) const;
    std::vector<_T> vec() const;
    bool equals(ArrayRef) const;

private:
    const _T* first;
    size_t count;
};
template <class _T> class IntegerRange {
public:
    struct iterator {
        _T value;
        _T operator*() const { return value; }
        iterator& operator++() {
            ++value;
            return *this;
        }
        bool operator!=(const iterator& other) const { return value != other.value; }
    };
    IntegerRange(_T from, _T to) : from(from), to(to) {}
    iterator begin() const { return iterator{from}; }
    iterator end() const { return iterator{to}; }

private:
    _T from, to;
};
template <class _T> IntegerRange<_T> irange(_T end) { return IntegerRange<_T>(0, end); }
template <class _A, class _B> IntegerRange<_B> irange(_A begin, _B end) { return IntegerRange<_B>(begin, end); }
template <class _T> bool operator==(ArrayRef<_T>, ArrayRef<_T>);
template <class _T> bool operator!=(ArrayRef<_T>, ArrayRef<_T>);
typedef ArrayRef<int64_t> IntArrayRef;
typedef ArrayRef<int64_t> IntList;
template <class _T, unsigned _N> class SmallVector : public std::vector<_T> {
public:
    using std::vector<_T>::vector;
};

enum class DeviceType : int8_t {
    CPU, CUDA, MKLDNN, OPENGL, OPENCL, IDEEP, HIP, FPGA, MAIA, XLA, Vulkan, Metal, XPU, MPS, Meta, HPU, VE, Lazy, IPU,
    MTIA, PrivateUse1, COMPILE_TIME_MAX_DEVICE_TYPES
};
std::string DeviceTypeName(DeviceType, bool = false);
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA, kHIP = DeviceType::HIP, kXLA = DeviceType::XLA;
typedef int8_t DeviceIndex;
struct Device {
    Device(DeviceType type, DeviceIndex index = -1);
    Device(const std::string&);
    DeviceType type() const;
    DeviceIndex index() const;
    bool has_index() const;
    bool is_cuda() const;
    bool is_cpu() const;
    std::string str() const;
    bool operator==(const Device&) const;
    bool operator!=(const Device&) const;
};
enum class Layout : int8_t { Strided, Sparse, SparseCsr, Mkldnn };
constexpr Layout kStrided = Layout::Strided, kSparse = Layout::Sparse;
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
struct TypeMeta {
    TypeMeta(ScalarType type) : type(type) {}
    size_t itemsize() const;
    operator ScalarType() const { return type; }
    ScalarType toScalarType() const { return type; }
    const char* name() const;
    ScalarType type;
};
inline bool operator==(TypeMeta a, TypeMeta b) { return a.type == b.type; }
inline bool operator!=(TypeMeta a, TypeMeta b) { return a.type != b.type; }
inline bool operator==(TypeMeta a, ScalarType b) { return a.type == b; }
inline bool operator!=(TypeMeta a, ScalarType b) { return a.type != b; }
inline bool operator==(ScalarType a, TypeMeta b) { return a == b.type; }
inline bool operator!=(ScalarType a, TypeMeta b) { return a != b.type; }
inline ScalarType typeMetaToScalarType(TypeMeta type) { return type; }
struct TensorOptions {
    TensorOptions() = default;
    TensorOptions(ScalarType);
    TensorOptions(Device);
    TensorOptions(DeviceType);
    TensorOptions(Layout);
    TensorOptions dtype(ScalarType) const;
    TensorOptions dtype(TypeMeta) const;
    TypeMeta dtype() const;
    TensorOptions device(Device) const;
    TensorOptions device(DeviceType, DeviceIndex = -1) const;
    Device device() const;
    TensorOptions device_index(DeviceIndex) const;
    TensorOptions layout(Layout) const;
    TensorOptions requires_grad(bool = true) const;
    TensorOptions pinned_memory(bool) const;
    TensorOptions memory_format(MemoryFormat) const;
};
struct Scalar {
    Scalar() = default;
    template <class _T> Scalar(_T);
    template <class _T> _T to() const;
    double toDouble() const;
    float toFloat() const;
    int toInt() const;
    int64_t toLong() const;
    bool toBool() const;
    bool isFloatingPoint() const;
    ScalarType type() const;
};
struct DataPtr {
    void* get() const;
    operator bool() const;
};
struct Storage {
    void* data() const;
    DataPtr data_ptr() const;
    size_t nbytes() const;
};
struct Allocator { DataPtr allocate(size_t); };
}  // namespace c10

namespace at {
typedef c10::TypeMeta Dtype;
typedef const char* CheckedFrom;

namespace indexing {
struct None_t {};
constexpr None_t None = None_t();
struct Slice { Slice(...); };
struct TensorIndex { template <class _T> TensorIndex(_T&&); };
}  // namespace indexing

/// What `Tensor::type()` gives: an element type that says some more.
struct DeprecatedTypeProperties {
    ScalarType type;
    operator ScalarType() const { return type; }
    ScalarType scalarType() const { return type; }
    bool is_cuda() const;
    bool is_sparse() const;
    DeprecatedTypeProperties toScalarType(ScalarType other) const { return {other}; }
};
typedef DeprecatedTypeProperties Type;

/// The element type that a type of C++ stands for; `otherwise`, for those that stand for none.
template <class _T, ScalarType _N = CppTypeToScalarType<_T>::value>
constexpr ScalarType _cudalint_scalar_type(ScalarType) { return _N; }
template <class _T, class... _A> constexpr ScalarType _cudalint_scalar_type(ScalarType otherwise, _A...) {
    return otherwise;
}

class Tensor;
/// What `Tensor::sizes()` gives: a list of numbers that still knows whose.
struct TensorShape {
    const Tensor* of;
    explicit TensorShape(const Tensor* of) : of(of) {}
    int64_t operator[](size_t i) const;
    size_t size() const;
    const int64_t* begin() const;
    const int64_t* end() const;
    const int64_t* data() const;
    int64_t front() const;
    int64_t back() const;
    bool empty() const;
    std::vector<int64_t> vec() const;
    IntArrayRef slice(size_t, size_t) const;
    bool equals(IntArrayRef) const;
    operator IntArrayRef() const;
};
bool operator==(TensorShape, TensorShape);
bool operator!=(TensorShape, TensorShape);

class Tensor {
public:
    Tensor() = default;
    /// A new tensor of a shape: contiguous, in memory of its own.
    template <class _I> Tensor(const _I* sizes, size_t count) : memory(_cudalint_tensor_memory()) {
        lay_out(sizes, count, 0);
    }
    /// Another one of the same shape.
    static Tensor like(const Tensor& other) {
        Tensor result = other;
        result.memory = _cudalint_tensor_memory();
        return result;
    }
    /// One of the same shape whose elements may be of another type.
    static Tensor of_shape(const Tensor& other) {
        Tensor result = like(other);
        result.type_ = _cudalint_tensor_type();
        return result;
    }

    int64_t dim() const { return dimensions; }
    int64_t ndimension() const { return dimensions; }
    int64_t numel() const { return elements; }
    int64_t size(int64_t d) const { return shape[d]; }
    int64_t stride(int64_t d) const {
        return _cudalint_stride(strides_[d], d == -1 ? _cudalint_inner : _cudalint_any);
    }
    TensorShape sizes() const { return TensorShape(this); }
    IntArrayRef strides() const;
    ScalarType scalar_type() const { return type_; }
    TypeMeta dtype() const { return type_; }
    DeprecatedTypeProperties type() const { return {type_}; }
    TensorOptions options() const;
    Device device() const;
    int64_t get_device() const;
    Layout layout() const;
    size_t nbytes() const;
    size_t element_size() const;
    size_t itemsize() const;
    int64_t storage_offset() const;
    Storage storage() const;
    bool defined() const;
    bool is_cuda() const;
    bool is_cpu() const;
    bool is_sparse() const;
    bool is_contiguous(MemoryFormat = MemoryFormat::Contiguous) const;
    bool is_non_overlapping_and_dense() const;
    bool is_floating_point() const;
    bool is_complex() const;
    bool is_same(const Tensor&) const;
    bool is_pinned() const;
    bool requires_grad() const;
    bool has_storage() const;
    MemoryFormat suggest_memory_format() const;

    void* data_ptr() const { return memory; }
    const void* const_data_ptr() const { return memory; }
    void* mutable_data_ptr() const { return memory; }
    template <class _T> _T* data_ptr() const { return elements_of<_T>(); }
    template <class _T> const _T* const_data_ptr() const { return elements_of<_T>(); }
    template <class _T> _T* mutable_data_ptr() const { return elements_of<_T>(); }
    template <class _T> _T* data() const { return elements_of<_T>(); }
    Tensor data() const { return *this; }
    template <class _T, size_t _N, template <class> class _P = DefaultPtrTraits>
    PackedTensorAccessor32<_T, _N, _P> packed_accessor32() const {
        return PackedTensorAccessor32<_T, _N, _P>((_T*)memory, shape, strides_);
    }
    template <class _T, size_t _N, template <class> class _P = DefaultPtrTraits>
    PackedTensorAccessor64<_T, _N, _P> packed_accessor64() const {
        return PackedTensorAccessor64<_T, _N, _P>((_T*)memory, shape, strides_);
    }
    template <class _T, size_t _N, template <class> class _P = DefaultPtrTraits, class _I = int64_t>
    GenericPackedTensorAccessor<_T, _N, _P, _I> packed_accessor() const {
        return GenericPackedTensorAccessor<_T, _N, _P, _I>((_T*)memory, shape, strides_);
    }
    template <class _T, size_t _N, template <class> class _P = DefaultPtrTraits, class _I = int64_t>
    GenericPackedTensorAccessor<_T, _N, _P, _I> generic_packed_accessor() const {
        return GenericPackedTensorAccessor<_T, _N, _P, _I>((_T*)memory, shape, strides_);
    }
    template <class _T, size_t _N> TensorAccessor<_T, _N> accessor() const;

    Tensor contiguous(MemoryFormat = MemoryFormat::Contiguous) const { return *this; }
    Tensor detach() const { return *this; }
    Tensor cuda() const { return *this; }
    Tensor alias() const { return *this; }
    Tensor clone(...) const { return like(*this); }
    template <class... _A> Tensor to(_A&&...) const { return of_shape(*this); }
    Tensor to(const TensorOptions&) const { return of_shape(*this); }
    Tensor cpu() const { return like(*this); }
    Tensor toType(ScalarType) const { return of_shape(*this); }
    Tensor type(ScalarType) const { return of_shape(*this); }
    Tensor toBackend(int) const { return like(*this); }
    template <size_t _N> Tensor view(const int64_t (&sizes)[_N]) const { return reshaped(sizes, _N); }
    template <size_t _N> Tensor reshape(const int64_t (&sizes)[_N]) const { return reshaped(sizes, _N); }
    Tensor view(IntArrayRef) const;
    Tensor view(ScalarType) const;
    Tensor reshape(IntArrayRef) const;
    template <size_t _N> Tensor new_empty(const int64_t (&sizes)[_N], const TensorOptions& = {}) const {
        return Tensor(sizes, _N);
    }
    template <size_t _N> Tensor new_zeros(const int64_t (&sizes)[_N], const TensorOptions& = {}) const {
        return Tensor(sizes, _N);
    }
    Tensor new_empty(IntArrayRef, const TensorOptions& = {}) const;
    Tensor new_zeros(IntArrayRef, const TensorOptions& = {}) const;

    template <class _T> _T item() const;
    Scalar item() const;
    Tensor operator[](int64_t) const;
    Tensor operator[](const Tensor&) const;
    Tensor operator-() const;
    Tensor operator~() const;
    Tensor& operator+=(const Tensor&);
    Tensor& operator+=(const Scalar&);
    Tensor& operator-=(const Tensor&);
    Tensor& operator-=(const Scalar&);
    Tensor& operator*=(const Tensor&);
    Tensor& operator*=(const Scalar&);
    Tensor& operator/=(const Tensor&);
    Tensor& operator/=(const Scalar&);
    Tensor grad() const;
    Tensor& mutable_grad() const;
    Tensor set_requires_grad(bool) const;
    std::vector<Tensor> unbind(int64_t = 0) const;
    std::vector<Tensor> chunk(int64_t, int64_t = 0) const;
    std::vector<Tensor> split(int64_t, int64_t = 0) const;
    std::tuple<Tensor, Tensor> sort(int64_t = -1, bool = false) const;
    std::tuple<Tensor, Tensor> topk(int64_t, int64_t = -1, bool = true, bool = true) const;
    bool equal(const Tensor&) const;
    // Of the hundreds of other operations, only the result's type is known.
#define _CUDALINT_OPERATION(NAME) template <class... _A> Tensor NAME(_A&&...) const;
#define _CUDALINT_IN_BRACES(NAME) Tensor NAME(IntArrayRef, bool = false) const;
#define _CUDALINT_OPERATIONS(_M)                                                                            \
    _M(abs) _M(add) _M(add_) _M(addmm) _M(all) _M(any) _M(argmax) _M(argmin) _M(argsort) _M(as_strided)     \
    _M(baddbmm) _M(bmm) _M(bool_) _M(ceil) _M(clamp) _M(clamp_) _M(clamp_max) _M(clamp_min) _M(copy_)       \
    _M(cos) _M(cumsum) _M(diagonal) _M(div) _M(div_) _M(eq) _M(erf) _M(exp) _M(expand_as) _M(fill_)         \
    _M(flatten) _M(flip_) _M(floor) _M(gather) _M(ge) _M(gt) _M(half) _M(index) _M(index_add_)              \
    _M(index_put_) _M(index_select) _M(isfinite) _M(isinf) _M(isnan) _M(le) _M(log) _M(logical_not) _M(lt)  \
    _M(masked_fill) _M(masked_fill_) _M(masked_select) _M(matmul) _M(max) _M(maximum) _M(min) _M(minimum)   \
    _M(mm) _M(mul) _M(mul_) _M(narrow) _M(ne) _M(neg) _M(nonzero) _M(norm) _M(pow) _M(prod) _M(random_)     \
    _M(reciprocal) _M(relu) _M(resize_as_) _M(round) _M(rsqrt) _M(scatter) _M(scatter_) _M(scatter_add_)    \
    _M(select) _M(sigmoid) _M(sin) _M(slice) _M(softmax) _M(sqrt) _M(squeeze) _M(squeeze_) _M(std) _M(sub)  \
    _M(sub_) _M(t) _M(tanh) _M(to_sparse) _M(transpose) _M(transpose_) _M(triu) _M(tril) _M(uniform_)       \
    _M(unfold) _M(unsqueeze) _M(unsqueeze_) _M(view_as) _M(reshape_as) _M(where) _M(zero_) _M(mean) _M(sum) \
    _M(toFloat) _M(set_) _M(coalesce) _M(indices) _M(values) _M(record_stream)
    _CUDALINT_OPERATIONS(_CUDALINT_OPERATION)
    _CUDALINT_IN_BRACES(expand)
    _CUDALINT_IN_BRACES(flip)
    _CUDALINT_IN_BRACES(mean)
    _CUDALINT_IN_BRACES(permute)
    _CUDALINT_IN_BRACES(repeat)
    _CUDALINT_IN_BRACES(resize_)
    _CUDALINT_IN_BRACES(sum)
    Tensor index(std::initializer_list<indexing::TensorIndex>) const;
    template <class _T> Tensor& index_put_(std::initializer_list<indexing::TensorIndex>, const _T&);
    template <class... _A> Tensor permute(int64_t, _A...) const;
    template <class... _A> Tensor expand(int64_t, _A...) const;
#undef _CUDALINT_OPERATION
#undef _CUDALINT_IN_BRACES

private:
    /// Refuses another type than that of the elements.
    template <class _T> _T* elements_of() const {
        if (type_ != _cudalint_scalar_type<std::remove_const_t<_T>>(type_)) { ::abort(); }
        return (_T*)memory;
    }
    /// The same elements in another shape, in which a size of -1 is what the others leave.
    Tensor reshaped(const int64_t* sizes, size_t count) const {
        int64_t given = 1;
        for (size_t i = 0; i < count; ++i) { given *= sizes[i] == -1 ? 1 : sizes[i]; }
        Tensor other = *this;
        other.lay_out(sizes, count, elements / given);
        return other;
    }
    template <class _I> void lay_out(const _I* sizes, size_t count, int64_t rest) {
        dimensions = count;
        int step = 1;  // Most kernels compute offsets with `int`, and are run on tensors for which that will do.
        for (size_t i = count; i > 0; --i) {
            shape[i - 1] = sizes[i - 1] == -1 ? rest : sizes[i - 1];
            strides_[i - 1] = step;
            shape[(int64_t)i - 1 - (int64_t)count] = shape[i - 1];
            strides_[(int64_t)i - 1 - (int64_t)count] = step;
            step *= shape[i - 1];
        }
        elements = step;
    }
    void* memory;
    int64_t elements;
    int dimensions;
    // Dimensions that are counted from the last, `shape[-1]`, lie in front: of a tensor that nobody sees made it isn't
    // known how many it has.
    int _shape_from_end[8];
    int shape[8];
    int _strides_from_end[8];
    int strides_[8];
    ScalarType type_;
};
inline int64_t TensorShape::operator[](size_t i) const { return of->size(i); }
inline int64_t numel(const Tensor& tensor) { return tensor.numel(); }
inline int64_t size(const Tensor& tensor, int64_t d) { return tensor.size(d); }
inline size_t TensorShape::size() const { return of->dim(); }
#define _CUDALINT_BINARY(_O)                                                                                \
    Tensor operator _O(const Tensor&, const Tensor&);                                                       \
    Tensor operator _O(const Tensor&, const Scalar&);                                                       \
    Tensor operator _O(const Scalar&, const Tensor&);
_CUDALINT_BINARY(+)
_CUDALINT_BINARY(-)
_CUDALINT_BINARY(*)
_CUDALINT_BINARY(/)
_CUDALINT_BINARY(%)
_CUDALINT_BINARY(<)
_CUDALINT_BINARY(<=)
_CUDALINT_BINARY(>)
_CUDALINT_BINARY(>=)
_CUDALINT_BINARY(==)
_CUDALINT_BINARY(!=)
_CUDALINT_BINARY(&)
_CUDALINT_BINARY(|)
#undef _CUDALINT_BINARY
typedef ArrayRef<Tensor> TensorList;
typedef c10::optional<Tensor> OptionalTensor;

// Functions that make a tensor of a shape that they are given.
#define _CUDALINT_MAKES(NAME)                                                                               \
    template <size_t _N, class... _A> Tensor NAME(const int64_t (&sizes)[_N], _A&&...) {                    \
        return Tensor(sizes, _N);                                                                       \
    }                                                                                                       \
    template <size_t _N> Tensor NAME(const int64_t (&sizes)[_N], const TensorOptions&) {                    \
        return Tensor(sizes, _N);                                                                       \
    }                                                                                                       \
    template <class... _A> Tensor NAME(const TensorShape& sizes, _A&&...) { return Tensor::of_shape(*sizes.of); } \
    template <class... _A> Tensor NAME(IntArrayRef sizes, _A&&...);                                         \
    Tensor NAME(IntArrayRef sizes, const TensorOptions& = {});
_CUDALINT_MAKES(empty)
_CUDALINT_MAKES(zeros)
_CUDALINT_MAKES(ones)
_CUDALINT_MAKES(rand)
_CUDALINT_MAKES(randn)
_CUDALINT_MAKES(full)
#undef _CUDALINT_MAKES
#define _CUDALINT_COPIES(NAME)                                                                              \
    inline Tensor NAME(const Tensor& other) { return Tensor::like(other); }                                 \
    template <class... _A> Tensor NAME(const Tensor& other, _A&&...) { return Tensor::of_shape(other); }
_CUDALINT_COPIES(empty_like)
_CUDALINT_COPIES(zeros_like)
_CUDALINT_COPIES(ones_like)
_CUDALINT_COPIES(full_like)
_CUDALINT_COPIES(rand_like)
_CUDALINT_COPIES(randn_like)
#undef _CUDALINT_COPIES
#define _CUDALINT_OPERATION(NAME) template <class... _A> Tensor NAME(_A&&...);
_CUDALINT_OPERATIONS(_CUDALINT_OPERATION)
_CUDALINT_OPERATION(arange)
_CUDALINT_OPERATION(linspace)
_CUDALINT_OPERATION(eye)
_CUDALINT_OPERATION(empty_strided)
_CUDALINT_OPERATION(tensor)
_CUDALINT_OPERATION(scalar_tensor)
_CUDALINT_OPERATION(randperm)
_CUDALINT_OPERATION(mm_out)
_CUDALINT_OPERATION(sum_out)
#undef _CUDALINT_OPERATION
#undef _CUDALINT_OPERATIONS
Tensor from_blob(void*, IntArrayRef, const TensorOptions& = {});
template <class _D> Tensor from_blob(void*, IntArrayRef, const _D&, const TensorOptions& = {});
Tensor cat(TensorList, int64_t = 0);
Tensor stack(TensorList, int64_t = 0);
Tensor randint(int64_t, int64_t, IntArrayRef, const TensorOptions& = {});
Tensor randint(int64_t, IntArrayRef, const TensorOptions& = {});
template <class... _A> std::tuple<Tensor, Tensor, Tensor> unique_dim(_A&&...);
template <class... _A> std::tuple<Tensor, Tensor> sort(_A&&...);
template <class... _A> std::tuple<Tensor, Tensor> topk(_A&&...);
template <class _T> TensorOptions dtype(_T);
TensorOptions device(Device);
TensorOptions requires_grad(bool = true);
std::optional<Device> device_of(const Tensor&);
bool allclose(const Tensor&, const Tensor&, double = 0, double = 0, bool = false);
void manual_seed(uint64_t);

struct TensorArg {
    TensorArg(const Tensor& of, const char*, int) : tensor(of) {}
    Tensor tensor;
    const char* name;
    int pos;
    const Tensor* operator->() const { return &tensor; }
    const Tensor& operator*() const { return tensor; }
};
#define _CUDALINT_VERIFIES(NAME) template <class... _A> inline void NAME(CheckedFrom, _A&&...) {}
inline void checkAllSameGPU(CheckedFrom, ArrayRef<TensorArg>) {}
inline void checkAllSameType(CheckedFrom, ArrayRef<TensorArg>) {}
inline void checkAllSameNumel(CheckedFrom, ArrayRef<TensorArg>) {}
inline void checkAllContiguous(CheckedFrom, ArrayRef<TensorArg>) {}
inline void checkAllDefined(CheckedFrom, ArrayRef<TensorArg>) {}
_CUDALINT_VERIFIES(checkContiguous)
_CUDALINT_VERIFIES(checkDim)
_CUDALINT_VERIFIES(checkSameGPU)
_CUDALINT_VERIFIES(checkSameType)
_CUDALINT_VERIFIES(checkSameSize)
_CUDALINT_VERIFIES(checkSize)
_CUDALINT_VERIFIES(checkScalarType)
#undef _CUDALINT_VERIFIES

struct Generator {
    template <class _T> _T* get() const;
    bool defined() const;
};
struct PhiloxCudaState { uint64_t seed_, offset_; };
struct CUDAGeneratorImpl {
    struct { void lock(); void unlock(); } mutex_;
    PhiloxCudaState philox_cuda_state(uint64_t);
    std::pair<uint64_t, uint64_t> philox_engine_inputs(uint64_t);
    uint64_t current_seed() const;
};
template <class _T> _T* get_generator_or_default(const std::optional<Generator>&, const Generator&);
struct NoGradGuard {};
struct AutoNonVariableTypeMode { AutoNonVariableTypeMode(bool = true); };
struct Context {
    void alertNotDeterministic(const char*);
    void lazyInitCUDA();
    bool deterministicAlgorithms() const;
    bool allowTF32CuBLAS() const;
};
Context& globalContext();
}  // namespace at
namespace detail {
inline at::ScalarType scalar_type(at::ScalarType type) { return type; }
inline at::ScalarType scalar_type(const at::DeprecatedTypeProperties& type) { return type; }
}  // namespace detail
#pragma clang force_cuda_host_device end
