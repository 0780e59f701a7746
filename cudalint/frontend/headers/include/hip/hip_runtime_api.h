// The runtime without kernels.
#pragma once
#include <hip/hip_runtime.h>
