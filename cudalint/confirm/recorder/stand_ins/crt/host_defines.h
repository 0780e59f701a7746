// Stands in for the header of this name where CUDA's headers come from wheels that lack it: what the others need of it,
// for a compiler of host code.

#ifndef CUDALINT_HOST_DEFINES_H
#define CUDALINT_HOST_DEFINES_H

#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define CUDARTAPI
#define CUDARTAPI_CDECL

#endif
