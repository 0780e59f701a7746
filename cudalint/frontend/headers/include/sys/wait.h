#pragma once
#pragma clang force_cuda_host_device begin
#include "types.h"
#define WNOHANG 1
#define WIFEXITED(s) (((s) & 127) == 0)
#define WEXITSTATUS(s) (((s) >> 8) & 255)
extern "C" pid_t wait(int*);
extern "C" pid_t waitpid(pid_t, int*, int);
#pragma clang force_cuda_host_device end
