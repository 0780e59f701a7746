#pragma once
#pragma clang force_cuda_host_device begin
#include "../time.h"
struct tms { clock_t tms_utime, tms_stime, tms_cutime, tms_cstime; };
extern "C" clock_t times(tms*);
#pragma clang force_cuda_host_device end
