#pragma once
#include "_cudalint/base.h"
extern "C" int backtrace(void**, int);
extern "C" char** backtrace_symbols(void* const*, int);
extern "C" void backtrace_symbols_fd(void* const*, int, int);
