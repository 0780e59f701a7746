#pragma once
#pragma clang force_cuda_host_device begin
#include "types.h"
#include "../time.h"
#define ITIMER_REAL 0
struct timezone { int tz_minuteswest, tz_dsttime; };
struct itimerval { timeval it_interval, it_value; };
extern "C" int gettimeofday(timeval*, void*);
extern "C" int settimeofday(const timeval*, const timezone*);
extern "C" int setitimer(int, const itimerval*, itimerval*);
#define timerclear(t) ((t)->tv_sec = (t)->tv_usec = 0)
#define timersub(a, b, r) ((r)->tv_sec = (a)->tv_sec - (b)->tv_sec, (r)->tv_usec = (a)->tv_usec - (b)->tv_usec)
#pragma clang force_cuda_host_device end
