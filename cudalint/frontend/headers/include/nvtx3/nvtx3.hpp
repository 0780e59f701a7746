#pragma once
#pragma clang force_cuda_host_device begin
#include "../nvToolsExt.h"
namespace nvtx3 {
struct scoped_range { explicit scoped_range(const char*); };
}  // namespace nvtx3
#pragma clang force_cuda_host_device end
