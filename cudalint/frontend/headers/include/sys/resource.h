#pragma once
#pragma clang force_cuda_host_device begin
#include "time.h"
#define RUSAGE_SELF 0
#define RUSAGE_CHILDREN (-1)
#define RLIMIT_STACK 3
#define RLIMIT_AS 9
struct rusage { timeval ru_utime, ru_stime; long ru_maxrss, ru_minflt, ru_majflt; };
struct rlimit { unsigned long rlim_cur, rlim_max; };
typedef unsigned long rlim_t;
#define RLIM_INFINITY (~0UL)
extern "C" int getrusage(int, rusage*);
extern "C" int getrlimit(int, rlimit*);
extern "C" int setrlimit(int, const rlimit*);
#pragma clang force_cuda_host_device end
