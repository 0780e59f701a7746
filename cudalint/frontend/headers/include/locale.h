#pragma once
#pragma clang force_cuda_host_device begin
#define LC_ALL 6
#define LC_NUMERIC 1
extern "C" char* setlocale(int, const char*);
#pragma clang force_cuda_host_device end
