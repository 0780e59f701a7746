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
constexpr Dtype kUInt8 = at::kByte, kInt8 = at::kChar, kInt16 = at::kShort, kInt32 = at::kInt, kInt64 = at::kLong;
constexpr Dtype kFloat16 = at::kHalf, kFloat32 = at::kFloat, kFloat64 = at::kDouble, kU8 = at::kByte, kI8 = at::kChar;
constexpr Dtype kI16 = at::kShort, kI32 = at::kInt, kI64 = at::kLong, kF16 = at::kHalf, kF32 = at::kFloat, kF64 = at::kDouble;
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
