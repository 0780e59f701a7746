#pragma once
#pragma clang force_cuda_host_device begin
#include "sys/types.h"
struct cpu_set_t { unsigned long bits[16]; };
struct sched_param { int sched_priority; };
#define CPU_ZERO(set) (*(set) = cpu_set_t())
#define CPU_SET(cpu, set) ((set)->bits[(cpu) / 64] |= 1UL << ((cpu) % 64))
#define CPU_ISSET(cpu, set) (((set)->bits[(cpu) / 64] >> ((cpu) % 64)) & 1)
extern "C" int sched_setaffinity(pid_t, size_t, const cpu_set_t*);
extern "C" int sched_getaffinity(pid_t, size_t, cpu_set_t*);
extern "C" int sched_yield();
extern "C" int sched_getcpu();
#pragma clang force_cuda_host_device end
