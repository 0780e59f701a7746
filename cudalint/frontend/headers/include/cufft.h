#pragma once
#pragma clang force_cuda_host_device begin
#include "_cudalint/cuda_library.h"
#define _CUFFT_H_
typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef cuComplex cufftComplex;
typedef cuDoubleComplex cufftDoubleComplex;
#define CUFFT_FORWARD (-1)
#define CUFFT_INVERSE 1
#define MAX_CUFFT_ERROR 17
typedef enum cufftResult_t {
    CUFFT_SUCCESS = 0,
    CUFFT_INVALID_PLAN = 1,
    CUFFT_ALLOC_FAILED = 2,
    CUFFT_INVALID_TYPE = 3,
    CUFFT_INVALID_VALUE = 4,
    CUFFT_INTERNAL_ERROR = 5,
    CUFFT_EXEC_FAILED = 6,
    CUFFT_SETUP_FAILED = 7,
    CUFFT_INVALID_SIZE = 8,
    CUFFT_UNALIGNED_DATA = 9,
    CUFFT_INCOMPLETE_PARAMETER_LIST = 10,
    CUFFT_INVALID_DEVICE = 11,
    CUFFT_PARSE_ERROR = 12,
    CUFFT_NO_WORKSPACE = 13,
    CUFFT_NOT_IMPLEMENTED = 14,
    CUFFT_LICENSE_ERROR = 15,
    CUFFT_NOT_SUPPORTED = 16,
    CUFFT_MISSING_DEPENDENCY = 17,
    CUFFT_NVRTC_FAILURE = 18,
    CUFFT_NVJITLINK_FAILURE = 19,
    CUFFT_NVSHMEM_FAILURE = 20
} cufftResult;
typedef enum cufftType_t { CUFFT_R2C = 0x2a, CUFFT_C2R = 0x2c, CUFFT_C2C = 0x29, CUFFT_D2Z = 0x6a, CUFFT_Z2D = 0x6c, CUFFT_Z2Z = 0x69 } cufftType;
typedef enum cufftXtSubFormat_t { CUFFT_XT_FORMAT_INPUT, CUFFT_XT_FORMAT_OUTPUT, CUFFT_XT_FORMAT_INPLACE, CUFFT_XT_FORMAT_INPLACE_SHUFFLED } cufftXtSubFormat;
typedef enum cufftXtCopyType_t { CUFFT_COPY_HOST_TO_DEVICE, CUFFT_COPY_DEVICE_TO_HOST, CUFFT_COPY_DEVICE_TO_DEVICE } cufftXtCopyType;
typedef enum cufftXtCallbackType_t { CUFFT_CB_LD_COMPLEX, CUFFT_CB_LD_COMPLEX_DOUBLE, CUFFT_CB_LD_REAL, CUFFT_CB_LD_REAL_DOUBLE, CUFFT_CB_ST_COMPLEX, CUFFT_CB_ST_COMPLEX_DOUBLE, CUFFT_CB_ST_REAL } cufftXtCallbackType;
typedef cufftComplex (*cufftCallbackLoadC)(void*, size_t, void*, void*);
typedef cufftReal (*cufftCallbackLoadR)(void*, size_t, void*, void*);
typedef void (*cufftCallbackStoreC)(void*, size_t, cufftComplex, void*, void*);
typedef void (*cufftCallbackStoreR)(void*, size_t, cufftReal, void*, void*);
struct cudaXtDesc {
    int version, nGPUs, GPUs[64];
    void* data[64];
    size_t size[64];
    void* cudaXtState;
};
struct cudaLibXtDesc {
    int version;
    cudaXtDesc* descriptor;
    int library, subFormat;
    void* libDescriptor;
};
extern "C" {
cufftResult cufftCreate(...);
cufftResult cufftDestroy(...);
cufftResult cufftEstimate1d(...);
cufftResult cufftExecC2C(...);
cufftResult cufftExecC2R(...);
cufftResult cufftExecD2Z(...);
cufftResult cufftExecR2C(...);
cufftResult cufftExecZ2D(...);
cufftResult cufftExecZ2Z(...);
cufftResult cufftGetSize(...);
cufftResult cufftGetVersion(...);
cufftResult cufftMakePlan1d(...);
cufftResult cufftMakePlan2d(...);
cufftResult cufftMakePlan3d(...);
cufftResult cufftMakePlanMany(...);
cufftResult cufftMakePlanMany64(...);
cufftResult cufftPlan1d(...);
cufftResult cufftPlan2d(...);
cufftResult cufftPlan3d(...);
cufftResult cufftPlanMany(...);
cufftResult cufftSetAutoAllocation(...);
cufftResult cufftSetStream(...);
cufftResult cufftSetWorkArea(...);
cufftResult cufftXtClearCallback(...);
cufftResult cufftXtExec(...);
cufftResult cufftXtExecDescriptor(...);
cufftResult cufftXtExecDescriptorC2C(...);
cufftResult cufftXtExecDescriptorZ2Z(...);
cufftResult cufftXtFree(...);
cufftResult cufftXtMakePlanMany(...);
cufftResult cufftXtMalloc(...);
cufftResult cufftXtMemcpy(...);
cufftResult cufftXtSetCallback(...);
cufftResult cufftXtSetGPUs(...);
}
#pragma clang force_cuda_host_device end
