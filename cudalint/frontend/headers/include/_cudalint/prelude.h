// Forced in front of every file: what nvcc makes visible without any #include.
//
// These headers are cudalint's own. They declare as much of the CUDA and standard interfaces as the
// front end needs to give every name in a kernel its type; they are never compiled or linked.
// Trivial helpers are real definitions, because the evaluator inlines them.
#pragma once
#pragma clang force_cuda_host_device begin
#include "base.h"
#include "vector_types.h"
#include "../stddef.h"
#include "../string.h"
#include "../stdlib.h"
#include "../stdio.h"
#include "../math.h"
#include "../time.h"
#include "runtime.h"
#include "device.h"
#include "texture.h"
#include "../assert.h"
// nvcc brings these through its own <utility>, <functional> and <cmath>.
#include "../new"
#include "../utility"
#include "../functional"
#include "../algorithm"
#include "../array"
#include "../vector"
#include "../limits"
#include "../cmath"
#include "../cstdlib"
#include "../cstring"
// Half of all programs measure time, and nothing but `std::chrono` and the names of ratios comes with it.
#include "../chrono"
#pragma clang force_cuda_host_device end
