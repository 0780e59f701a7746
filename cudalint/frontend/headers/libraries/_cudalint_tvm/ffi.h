// Tensors and checks of tvm-ffi, as far as host code needs them that launches kernels.
#pragma once
#include "../_cudalint_torch/accessors.h"
#include "../dlpack/dlpack.h"
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>
#pragma clang force_cuda_host_device begin

namespace _cudalint_tvm {
/// What a check writes its message to: the program ends with it.
struct Failed {
    Failed();
    [[noreturn]] ~Failed();
    template <class _T> const Failed& operator<<(const _T&) const { return *this; }
};
}  // namespace _cudalint_tvm
#define TVM_FFI_ICHECK(CONDITION) \
    if (CONDITION) {              \
    } else  /* Its own message comes last: what follows may be one more literal. */ \
        ::_cudalint_tvm::Failed() << ""
#define TVM_FFI_CHECK(CONDITION, KIND) TVM_FFI_ICHECK(CONDITION)
#define TVM_FFI_ICHECK_EQ(a, b) TVM_FFI_ICHECK((a) == (b))
#define TVM_FFI_ICHECK_NE(a, b) TVM_FFI_ICHECK((a) != (b))
#define TVM_FFI_ICHECK_LT(a, b) TVM_FFI_ICHECK((a) < (b))
#define TVM_FFI_ICHECK_LE(a, b) TVM_FFI_ICHECK((a) <= (b))
#define TVM_FFI_ICHECK_GT(a, b) TVM_FFI_ICHECK((a) > (b))
#define TVM_FFI_ICHECK_GE(a, b) TVM_FFI_ICHECK((a) >= (b))
#define TVM_FFI_ICHECK_NOTNULL(pointer) (pointer)
#define TVM_FFI_THROW(KIND) ::_cudalint_tvm::Failed()
#define TVM_FFI_LOG_AND_THROW(KIND) ::_cudalint_tvm::Failed()
#define TVM_FFI_DLL_EXPORT_TYPED_FUNC(NAME, FUNCTION) static auto* const _cudalint_exported_##NAME = &FUNCTION
#define TVM_FFI_STATIC_INIT_BLOCK() static void _cudalint_at_start()

inline bool operator==(DLDataType a, DLDataType b) {
    return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}
inline bool operator!=(DLDataType a, DLDataType b) { return !(a == b); }
inline bool operator==(DLDevice a, DLDevice b) {
    return a.device_type == b.device_type && a.device_id == b.device_id;
}
inline bool operator!=(DLDevice a, DLDevice b) { return !(a == b); }
void* TVMFFIEnvGetStream(int32_t device_type, int32_t device_id);
int TVMFFIEnvTensorAlloc(DLTensor*, void*, void*);
/// The memory of a new tensor: no other one has it.
void* _cudalint_tensor_memory();

namespace tvm {
namespace ffi {
using std::get;
template <class _T> using Optional = std::optional<_T>;
template <class _T> using Array = std::vector<_T>;
template <class _K, class _V> using Map = std::map<_K, _V>;
template <class... _T> using Tuple = std::tuple<_T...>;
template <class... _T> using Variant = std::variant<_T...>;
typedef std::string String, Bytes;
struct Any {
    Any(...);
    template <class _T> _T cast() const;
};
struct Function {
    template <class... _A> Any operator()(_A&&...) const;
};
struct Shape {
    template <class... _A> Shape(_A&&...);
    Shape(std::initializer_list<int64_t>);
    int64_t operator[](size_t i) const;
    size_t size() const;
    bool empty() const;
    int64_t Product() const;
    const int64_t* data() const;
    const int64_t* begin() const;
    const int64_t* end() const;
    int64_t front() const;
    int64_t back() const;
};
typedef Shape ShapeView;
class Tensor {
public:
    Tensor() = default;
    template <class... _A> static Tensor FromEnvAlloc(_A&&...);
    template <class... _A> static Tensor FromNDAlloc(_A&&...);
    void* data_ptr() const { return memory; }
    int32_t ndim() const { return dimensions; }
    int32_t dim() const { return dimensions; }
    int64_t numel() const { return elements; }
    int64_t size(int64_t d) const { return shape_[d]; }
    int64_t stride(int64_t d) const {
        return _cudalint_stride(strides_[d], d == -1 ? _cudalint_inner : _cudalint_any);
    }
    Shape shape() const;
    Shape sizes() const;
    Shape strides() const;
    DLDataType dtype() const { return type_; }
    DLDevice device() const { return device_; }
    bool IsContiguous() const;
    bool is_contiguous() const;
    bool IsAligned(size_t) const;
    int64_t byte_offset() const;
    const DLTensor* operator->() const;
    const DLTensor* GetDLTensorPtr() const;

private:
    void* memory;
    int64_t elements;
    int dimensions;
    int shape_[8];
    int strides_[8];
    DLDataType type_;
    DLDevice device_;
};
/// A type of its own: functions are overloaded for both.
class TensorView : public Tensor {
public:
    TensorView(const Tensor&);
    TensorView(const DLTensor*);
    TensorView as_strided(Shape, Shape, Optional<int64_t> = {}) const;
};
struct CUDADeviceGuard {
    explicit CUDADeviceGuard(int);
};
struct Module {
    template <class... _A> Optional<Function> GetFunction(_A&&...);
};
size_t GetDataSize(const Tensor&);
size_t GetDataSize(int64_t, DLDataType);
String DLDataTypeToString(DLDataType);
DLDataType StringToDLDataType(const String&);
}  // namespace ffi
}  // namespace tvm
#pragma clang force_cuda_host_device end
