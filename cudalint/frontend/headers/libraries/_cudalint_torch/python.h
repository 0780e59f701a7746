// What binds functions to Python, as far as it stands in files with kernels.
#pragma once
#include <memory>
#include <string>
#include <vector>
#pragma clang force_cuda_host_device begin
typedef struct _object PyObject;
namespace pybind11 {
struct object {
    template <class _T> _T cast() const;
    template <class... _A> object operator()(_A&&...) const;
    object attr(const char*) const;
    template <class _T> object operator[](const _T&) const;
    template <class _T> object& operator=(const _T&);
    bool is_none() const;
};
typedef object handle;
#define _CUDALINT_OBJECT(NAME)                                                                              \
    struct NAME : object {                                                                                  \
        template <class... _A> NAME(_A&&...);                                                               \
        size_t size() const;                                                                                \
        template <class _T> void append(_T&&);                                                              \
    };
_CUDALINT_OBJECT(dict)
_CUDALINT_OBJECT(list)
_CUDALINT_OBJECT(tuple)
_CUDALINT_OBJECT(str)
_CUDALINT_OBJECT(bytes)
_CUDALINT_OBJECT(capsule)
_CUDALINT_OBJECT(function)
#undef _CUDALINT_OBJECT
struct arg {
    explicit arg(const char*);
    template <class _T> arg operator=(const _T&) const;
    arg none(bool = true) const;
};
inline namespace literals {
arg operator""_a(const char*, size_t);
}
struct none {};
struct gil_scoped_release {};
struct gil_scoped_acquire {};
template <class...> struct call_guard {};
enum class return_value_policy { automatic, copy, move, reference, reference_internal, take_ownership };
template <class... _A> struct _cudalint_init {};
template <class... _A> _cudalint_init<_A...> init(_A&&...);
template <class _T, class... _O> struct class_ : object {
    template <class... _A> class_(_A&&...);
#define _CUDALINT_DEFINES(NAME) template <class... _A> class_& NAME(_A&&...);
    _CUDALINT_DEFINES(def)
    _CUDALINT_DEFINES(def_static)
    _CUDALINT_DEFINES(def_readonly)
    _CUDALINT_DEFINES(def_readwrite)
    _CUDALINT_DEFINES(def_property)
    _CUDALINT_DEFINES(def_property_readonly)
    _CUDALINT_DEFINES(value)
    _CUDALINT_DEFINES(export_values)
#undef _CUDALINT_DEFINES
};
template <class _T> using enum_ = class_<_T>;
struct module_ : object {
    template <class... _A> module_& def(_A&&...);
    module_ def_submodule(const char*, const char* = nullptr);
    const char*& doc();
    static module_ import(const char*);
};
typedef module_ module;
template <class _T, int = 0> struct array_t : object {
    _T* mutable_data();
    const _T* data() const;
    size_t size() const;
};
}  // namespace pybind11
#define PYBIND11_MODULE(NAME, VARIABLE) static void _cudalint_module(::pybind11::module_& VARIABLE)
#define PYBIND11_TYPE_CASTER(TYPE, NAME) TYPE value
#ifndef TORCH_EXTENSION_NAME
#define TORCH_EXTENSION_NAME extension
#endif

namespace torch {
struct CustomClassHolder {};
enum class DispatchKey { Undefined, CPU, CUDA, Autograd, Meta, CompositeImplicitAutograd, CompositeExplicitAutograd };
template <class... _A> int dispatch(_A&&...);
struct Library {
    template <class... _A> Library& def(_A&&...);
    template <class... _A> Library& impl(_A&&...);
    template <class _T> pybind11::class_<_T> class_(const char*);
};
}  // namespace torch
#define _CUDALINT_JOINED_(a, b) a##b
#define _CUDALINT_JOINED(a, b) _CUDALINT_JOINED_(a, b)
#define _CUDALINT_LIBRARY(M) static void _CUDALINT_JOINED(_cudalint_library_, __COUNTER__)(torch::Library & M)
#define TORCH_LIBRARY(NS, M) _CUDALINT_LIBRARY(M)
#define TORCH_LIBRARY_EXPAND(NS, M) _CUDALINT_LIBRARY(M)
#define TORCH_LIBRARY_FRAGMENT(NS, M) _CUDALINT_LIBRARY(M)
#define TORCH_LIBRARY_IMPL(NS, KEY, M) _CUDALINT_LIBRARY(M)
#define TORCH_FN(function) &function
#define TORCH_BOX(function) function
#define TORCH_SELECTIVE_NAME(name) name
#pragma clang force_cuda_host_device end
