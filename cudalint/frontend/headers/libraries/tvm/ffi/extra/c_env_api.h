#pragma once
#include "../../../_cudalint_tvm/ffi.h"
