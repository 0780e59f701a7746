#pragma once
#pragma clang force_cuda_host_device begin
#define FE_TONEAREST 0
#define FE_DOWNWARD 1024
#define FE_UPWARD 2048
#define FE_TOWARDZERO 3072
#define FE_ALL_EXCEPT 61
#define FE_INVALID 1
#define FE_DIVBYZERO 4
#define FE_OVERFLOW 8
extern "C" int fesetround(int);
extern "C" int fegetround();
extern "C" int feenableexcept(int);
extern "C" int feclearexcept(int);
extern "C" int fetestexcept(int);
#pragma clang force_cuda_host_device end
