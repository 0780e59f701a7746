#pragma once
#pragma clang force_cuda_host_device begin
// What the CUDA libraries' host interfaces build on.
#include "../cuComplex.h"
#pragma clang force_cuda_host_device end
