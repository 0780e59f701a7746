// What CuPy's header of this name declares for kernels: Thrust's complex numbers without their namespace.
#pragma once

#include <thrust/complex.h>

using thrust::complex;
using thrust::arg;
using thrust::conj;
using thrust::norm;
using thrust::polar;
using thrust::proj;
