// The macros that run a lambda with `scalar_t` for the type that a tensor turns out to have. `float` comes first: it is
// what the figures of a kernel are shown for.
#pragma once
#include "tensor.h"
#include <mutex>
#include <unordered_map>

#define _CUDALINT_CASE(ENUM, TYPE, NAME, ...)                                                               \
    case ENUM: {                                                                                            \
        using NAME = TYPE;                                                                                  \
        return __VA_ARGS__();                                                                               \
    }
#define AT_PRIVATE_CASE_TYPE_USING_HINT(ENUM, HINT, ...)                                                    \
    _CUDALINT_CASE(ENUM, c10::impl::ScalarTypeToCPPTypeT<ENUM>, HINT, __VA_ARGS__)
#define AT_DISPATCH_CASE(ENUM, ...) AT_PRIVATE_CASE_TYPE_USING_HINT(ENUM, scalar_t, __VA_ARGS__)
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...)                                                                 \
    [&] {                                                                                                   \
        switch (::detail::scalar_type(TYPE)) {                                                              \
            __VA_ARGS__                                                                                     \
            default: ::abort();                                                                             \
        }                                                                                                   \
    }()
#define AT_DISPATCH_CASE_TMPL(TYPE, NAME, CASES) AT_DISPATCH_SWITCH(TYPE, NAME, CASES)

#define AT_DISPATCH_CASE_FLOATING_TYPES(...)                                                                \
    AT_DISPATCH_CASE(at::ScalarType::Float, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Double, __VA_ARGS__)
#define AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(...)                                                        \
    AT_DISPATCH_CASE(at::ScalarType::Half, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::BFloat16, __VA_ARGS__)
#define AT_DISPATCH_CASE_COMPLEX_TYPES(...)                                                                 \
    AT_DISPATCH_CASE(at::ScalarType::ComplexFloat, __VA_ARGS__)                                             \
    AT_DISPATCH_CASE(at::ScalarType::ComplexDouble, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...)                                                                \
    AT_DISPATCH_CASE(at::ScalarType::Int, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Long, __VA_ARGS__)  \
    AT_DISPATCH_CASE(at::ScalarType::Byte, __VA_ARGS__) AT_DISPATCH_CASE(at::ScalarType::Char, __VA_ARGS__) \
    AT_DISPATCH_CASE(at::ScalarType::Short, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...)                                                                     \
    AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(...)                                                    \
    AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(...)                                                         \
    AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__)

// Each family alone, and with one to eight further types that come before the tensor's.
#define _CUDALINT_AND_1(_A, ...) AT_DISPATCH_CASE(_A, __VA_ARGS__)
#define _CUDALINT_AND_2(_A, _B, ...) \
    AT_DISPATCH_CASE(_A, __VA_ARGS__) _CUDALINT_AND_1(_B, __VA_ARGS__)
#define _CUDALINT_AND_3(_A, _B, _C, ...) \
    AT_DISPATCH_CASE(_A, __VA_ARGS__) _CUDALINT_AND_2(_B, _C, __VA_ARGS__)
#define _CUDALINT_AND_4(_A, _B, _C, _D, ...) \
    AT_DISPATCH_CASE(_A, __VA_ARGS__) _CUDALINT_AND_3(_B, _C, _D, __VA_ARGS__)
#define _CUDALINT_AND_5(_A, _B, _C, _D, _E, ...) \
    AT_DISPATCH_CASE(_A, __VA_ARGS__) _CUDALINT_AND_4(_B, _C, _D, _E, __VA_ARGS__)
#define _CUDALINT_AND_6(_A, _B, _C, _D, _E, _F, ...) \
    AT_DISPATCH_CASE(_A, __VA_ARGS__) _CUDALINT_AND_5(_B, _C, _D, _E, _F, __VA_ARGS__)
#define _CUDALINT_AND_7(_A, _B, _C, _D, _E, _F, _G, ...) \
    AT_DISPATCH_CASE(_A, __VA_ARGS__) _CUDALINT_AND_6(_B, _C, _D, _E, _F, _G, __VA_ARGS__)
#define _CUDALINT_AND_8(_A, _B, _C, _D, _E, _F, _G, _H, ...) \
    AT_DISPATCH_CASE(_A, __VA_ARGS__) _CUDALINT_AND_7(_B, _C, _D, _E, _F, _G, _H, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND(_A, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) _CUDALINT_AND_1(_A, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND2(_A, _B, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) _CUDALINT_AND_2(_A, _B, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND3(_A, _B, _C, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) _CUDALINT_AND_3(_A, _B, _C, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND4(_A, _B, _C, _D, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_FLOATING_TYPES(__VA_ARGS__) _CUDALINT_AND_4(_A, _B, _C, _D, __VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(__VA_ARGS__))
#define AT_DISPATCH_REDUCED_FLOATING_TYPES_AND(_A, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(__VA_ARGS__) _CUDALINT_AND_1(_A, __VA_ARGS__))
#define AT_DISPATCH_COMPLEX_TYPES(TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_COMPLEX_TYPES_AND(_A, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_COMPLEX_TYPES(__VA_ARGS__) _CUDALINT_AND_1(_A, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES(TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND(_A, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) _CUDALINT_AND_1(_A, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND2(_A, _B, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) _CUDALINT_AND_2(_A, _B, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND3(_A, _B, _C, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) _CUDALINT_AND_3(_A, _B, _C, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND4(_A, _B, _C, _D, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) _CUDALINT_AND_4(_A, _B, _C, _D, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND5(_A, _B, _C, _D, _E, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) _CUDALINT_AND_5(_A, _B, _C, _D, _E, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_AND_COMPLEX_TYPES_AND6(_A, _B, _C, _D, _E, _F, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_FLOATING_AND_COMPLEX_TYPES(__VA_ARGS__) _CUDALINT_AND_6(_A, _B, _C, _D, _E, _F, __VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES_AND(_A, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_INTEGRAL_TYPES(__VA_ARGS__) _CUDALINT_AND_1(_A, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND(_A, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) _CUDALINT_AND_1(_A, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND2(_A, _B, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) _CUDALINT_AND_2(_A, _B, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND3(_A, _B, _C, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) _CUDALINT_AND_3(_A, _B, _C, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND4(_A, _B, _C, _D, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) _CUDALINT_AND_4(_A, _B, _C, _D, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND5(_A, _B, _C, _D, _E, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) _CUDALINT_AND_5(_A, _B, _C, _D, _E, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND6(_A, _B, _C, _D, _E, _F, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) _CUDALINT_AND_6(_A, _B, _C, _D, _E, _F, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND7(_A, _B, _C, _D, _E, _F, _G, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) _CUDALINT_AND_7(_A, _B, _C, _D, _E, _F, _G, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND8(_A, _B, _C, _D, _E, _F, _G, _H, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_ALL_TYPES(__VA_ARGS__) _CUDALINT_AND_8(_A, _B, _C, _D, _E, _F, _G, _H, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX(TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND(_A, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) _CUDALINT_AND_1(_A, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND2(_A, _B, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) _CUDALINT_AND_2(_A, _B, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND3(_A, _B, _C, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) _CUDALINT_AND_3(_A, _B, _C, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND4(_A, _B, _C, _D, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) _CUDALINT_AND_4(_A, _B, _C, _D, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND5(_A, _B, _C, _D, _E, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) _CUDALINT_AND_5(_A, _B, _C, _D, _E, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND6(_A, _B, _C, _D, _E, _F, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) _CUDALINT_AND_6(_A, _B, _C, _D, _E, _F, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND7(_A, _B, _C, _D, _E, _F, _G, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) _CUDALINT_AND_7(_A, _B, _C, _D, _E, _F, _G, __VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES_AND_COMPLEX_AND8(_A, _B, _C, _D, _E, _F, _G, _H, TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_DISPATCH_CASE_ALL_TYPES_AND_COMPLEX(__VA_ARGS__) _CUDALINT_AND_8(_A, _B, _C, _D, _E, _F, _G, _H, __VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) \
    AT_DISPATCH_FLOATING_TYPES_AND(at::ScalarType::Half, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND_HALF(TYPE, NAME, ...) \
    AT_DISPATCH_ALL_TYPES_AND(at::ScalarType::Half, TYPE, NAME, __VA_ARGS__)
#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...) \
    AT_DISPATCH_SWITCH(TYPE, NAME, \
        AT_PRIVATE_CASE_TYPE_USING_HINT(at::ScalarType::Int, index_t, __VA_ARGS__) \
        AT_PRIVATE_CASE_TYPE_USING_HINT(at::ScalarType::Long, index_t, __VA_ARGS__))
