#pragma once
#pragma clang force_cuda_host_device begin
#include "types.h"
#include "../time.h"
struct timeb { time_t time; unsigned short millitm; short timezone, dstflag; };
extern "C" int ftime(timeb*);
#pragma clang force_cuda_host_device end
