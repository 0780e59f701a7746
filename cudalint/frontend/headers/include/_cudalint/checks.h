// What takes the place of a checking macro that nothing declares.
#pragma once
#include "base.h"
#pragma clang force_cuda_host_device begin
namespace _cudalint {
/// What a check writes its message to.
struct Message {
    template <class _T> const Message& operator<<(const _T&) const { return *this; }
};
inline bool holds(bool condition) { return condition; }
/// Of a status or a pointer nothing is known: `CHECK(cudaMalloc(...))` goes on with 0.
template <class _T> inline bool holds(const _T&) { return true; }
}  // namespace _cudalint
#pragma clang force_cuda_host_device end
// Without brackets, so that what is behind `<<` goes to the message alone.
#define _CUDALINT_STATED(CONDITION) __builtin_assume(::_cudalint::holds(CONDITION)), ::_cudalint::Message()
