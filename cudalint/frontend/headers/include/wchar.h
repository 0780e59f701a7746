#pragma once
#pragma clang force_cuda_host_device begin
#include "_cudalint/base.h"
typedef unsigned wint_t;
extern "C" size_t wcslen(const wchar_t*);
extern "C" int wprintf(const wchar_t*, ...);
#pragma clang force_cuda_host_device end
