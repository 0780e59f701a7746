#pragma once
#include "cuda.h"
// Entry points that programs look up at run time, by the version that brought them.
typedef CUresult (*PFN_cuTensorMapEncodeTiled_v12000)(...);
typedef CUresult (*PFN_cuTensorMapEncodeIm2col_v12000)(...);
typedef CUresult (*PFN_cuTensorMapReplaceAddress_v12000)(...);
typedef PFN_cuTensorMapEncodeTiled_v12000 PFN_cuTensorMapEncodeTiled;
typedef PFN_cuTensorMapEncodeIm2col_v12000 PFN_cuTensorMapEncodeIm2col;
typedef PFN_cuTensorMapReplaceAddress_v12000 PFN_cuTensorMapReplaceAddress;
