// What programs state for verifiers (GPUVerify, Faial) in the names of functions that no compiler knows.
#pragma once

#define _CUDALINT_STATEMENT(name) template <class... _A> __host__ __device__ int name(_A&&...)

_CUDALINT_STATEMENT(__assume);
_CUDALINT_STATEMENT(__requires);
_CUDALINT_STATEMENT(__ensures);
_CUDALINT_STATEMENT(__invariant);
_CUDALINT_STATEMENT(__global_invariant);
_CUDALINT_STATEMENT(__function_wide_invariant);
_CUDALINT_STATEMENT(__uniform_int);
_CUDALINT_STATEMENT(__uniform_bool);
_CUDALINT_STATEMENT(__distinct_int);
_CUDALINT_STATEMENT(__distinct_bool);
_CUDALINT_STATEMENT(__enabled);
_CUDALINT_STATEMENT(__exclusive);
_CUDALINT_STATEMENT(__implies);
_CUDALINT_STATEMENT(__read);
_CUDALINT_STATEMENT(__write);
_CUDALINT_STATEMENT(__no_read);
_CUDALINT_STATEMENT(__no_write);
_CUDALINT_STATEMENT(__read_implies);
_CUDALINT_STATEMENT(__write_implies);
_CUDALINT_STATEMENT(__assertion);
_CUDALINT_STATEMENT(__global_assert);
_CUDALINT_STATEMENT(__requires_fresh_array);
_CUDALINT_STATEMENT(__requires_distinct_arrays);

// What holds for the whole file becomes a function, which each kernel begins with.
#define _CUDALINT_JOINED(a, b) a##b
#define _CUDALINT_AXIOM(number, condition) \
    __device__ inline void _CUDALINT_JOINED(_cudalint_axiom_, number)() { __requires(condition); } static_assert(true)
#define __axiom(condition) _CUDALINT_AXIOM(__COUNTER__, condition)

#undef _CUDALINT_STATEMENT
