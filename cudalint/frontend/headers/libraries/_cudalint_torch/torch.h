// The namespace `torch`: at's and c10's names under its own.
#pragma once
#include "dispatch.h"
#include "python.h"
#pragma clang force_cuda_host_device begin
#include <array>
#include <iostream>
#include <map>
namespace py = pybind11;
namespace torch {
using namespace at;
typedef c10::ScalarType Dtype;
constexpr Dtype kUInt8 = at::kByte, kU8 = at::kByte, kInt8 = at::kChar, kI8 = at::kChar, kInt16 = at::kShort,
                kI16 = at::kShort, kInt32 = at::kInt, kI32 = at::kInt, kInt64 = at::kLong, kI64 = at::kLong,
                kFloat16 = at::kHalf, kF16 = at::kHalf, kFloat32 = at::kFloat, kF32 = at::kFloat,
                kFloat64 = at::kDouble, kF64 = at::kDouble;
namespace autograd {
typedef at::Tensor Variable;
typedef std::vector<at::Tensor> variable_list, tensor_list;
struct AutogradContext {
    template <class... _A> void save_for_backward(_A&&...);
    variable_list get_saved_variables() const;
    void mark_non_differentiable(const variable_list&);
};
template <class _T> struct Function {
    template <class... _A> static variable_list apply(_A&&...);
};
void increment_version(const at::Tensor&);
}  // namespace autograd
namespace cuda {
bool is_available();
void synchronize(int64_t = -1);
int64_t device_count();
}  // namespace cuda
namespace nn {
namespace functional {}
}  // namespace nn
}  // namespace torch
#pragma clang force_cuda_host_device end
