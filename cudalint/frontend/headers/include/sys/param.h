#pragma once
#pragma clang force_cuda_host_device begin
#include "../limits.h"
#define MAXPATHLEN 4096
#define MIN(a, b) (((a) < (b)) ? (a) : (b))
#define MAX(a, b) (((a) > (b)) ? (a) : (b))
#pragma clang force_cuda_host_device end
