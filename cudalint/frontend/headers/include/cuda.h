#pragma once
#pragma clang force_cuda_host_device begin
// The driver API, as far as programs around kernels use it. Its calls take any arguments.
#define __cuda_cuda_h__
#define __CUDA_CUDA_H__
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef struct CUfunc_st* CUfunction;
typedef cudaStream_t CUstream;
typedef cudaEvent_t CUevent;
typedef cudaGraph_t CUgraph;
typedef cudaGraphExec_t CUgraphExec;
typedef cudaTextureObject_t CUtexObject;
typedef cudaSurfaceObject_t CUsurfObject;
typedef cudaMemPool_t CUmemoryPool;
typedef struct CUarray_st* CUarray;
typedef struct CUmipmappedArray_st* CUmipmappedArray;
typedef struct CUtexref_st* CUtexref;
typedef struct CUsurfref_st* CUsurfref;
typedef struct CUgraphicsResource_st* CUgraphicsResource;
typedef struct CUlinkState_st* CUlinkState;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef size_t (*CUoccupancyB2DSize)(int);
enum CUresult {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_UNKNOWN = 999
};
enum CUdevice_attribute {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
    CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED = 102,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
    CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED = 107
};
enum CUfunction_attribute { CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };
enum CUcomputemode { CU_COMPUTEMODE_DEFAULT, CU_COMPUTEMODE_PROHIBITED = 2 };
enum CUctx_flags { CU_CTX_SCHED_AUTO, CU_CTX_SCHED_SPIN, CU_CTX_SCHED_YIELD, CU_CTX_SCHED_BLOCKING_SYNC = 4, CU_CTX_MAP_HOST = 8 };
enum CUstream_flags { CU_STREAM_DEFAULT, CU_STREAM_NON_BLOCKING };
enum CUevent_flags { CU_EVENT_DEFAULT, CU_EVENT_BLOCKING_SYNC, CU_EVENT_DISABLE_TIMING };
enum CUmemAllocationHandleType { CU_MEM_HANDLE_TYPE_NONE, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CU_MEM_HANDLE_TYPE_WIN32 };
enum CUmemLocationType { CU_MEM_LOCATION_TYPE_INVALID, CU_MEM_LOCATION_TYPE_DEVICE };
enum CUmemAllocationType { CU_MEM_ALLOCATION_TYPE_INVALID, CU_MEM_ALLOCATION_TYPE_PINNED };
enum CUmemAccess_flags { CU_MEM_ACCESS_FLAGS_PROT_NONE, CU_MEM_ACCESS_FLAGS_PROT_READ, CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3 };
enum CUmemAllocationGranularity_flags { CU_MEM_ALLOC_GRANULARITY_MINIMUM, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED };
enum CUarray_format { CU_AD_FORMAT_UNSIGNED_INT8 = 1, CU_AD_FORMAT_SIGNED_INT32 = 10, CU_AD_FORMAT_HALF = 16, CU_AD_FORMAT_FLOAT = 32 };
enum CUresourcetype { CU_RESOURCE_TYPE_ARRAY, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, CU_RESOURCE_TYPE_LINEAR, CU_RESOURCE_TYPE_PITCH2D };
typedef unsigned int cuuint32_t;
typedef unsigned long long cuuint64_t;
typedef cudaLaunchConfig_t CUlaunchConfig;
typedef cudaLaunchAttribute CUlaunchAttribute;
typedef cudaLaunchAttributeID CUlaunchAttributeID;
enum CUjit_option { CU_JIT_MAX_REGISTERS, CU_JIT_THREADS_PER_BLOCK, CU_JIT_WALL_TIME, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_TARGET_FROM_CUCONTEXT, CU_JIT_TARGET, CU_JIT_FALLBACK_STRATEGY, CU_JIT_GENERATE_DEBUG_INFO, CU_JIT_LOG_VERBOSE, CU_JIT_GENERATE_LINE_INFO, CU_JIT_CACHE_MODE };
enum CUjitInputType { CU_JIT_INPUT_CUBIN, CU_JIT_INPUT_PTX, CU_JIT_INPUT_FATBINARY, CU_JIT_INPUT_OBJECT, CU_JIT_INPUT_LIBRARY };
enum CUdriverProcAddressQueryResult { CU_GET_PROC_ADDRESS_SUCCESS, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT };
enum CUmulticastGranularity_flags { CU_MULTICAST_GRANULARITY_MINIMUM, CU_MULTICAST_GRANULARITY_RECOMMENDED };
typedef enum CUtensorMapDataType_enum { CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_DATA_TYPE_UINT16, CU_TENSOR_MAP_DATA_TYPE_UINT32, CU_TENSOR_MAP_DATA_TYPE_INT32 = 4, CU_TENSOR_MAP_DATA_TYPE_INT64 = 5, CU_TENSOR_MAP_DATA_TYPE_UINT64 = 3, CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT64, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B } CUtensorMapDataType;
enum CUtensorMapInterleave { CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_INTERLEAVE_16B, CU_TENSOR_MAP_INTERLEAVE_32B };
enum CUtensorMapSwizzle { CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_SWIZZLE_32B, CU_TENSOR_MAP_SWIZZLE_64B, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B };
enum CUtensorMapL2promotion { CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_64B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B };
enum CUtensorMapFloatOOBfill { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA };
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
struct CUmemLocation { CUmemLocationType type; int id; };
struct CUmemAccessDesc { CUmemLocation location; CUmemAccess_flags flags; };
struct CUmemAllocationProp {
    CUmemAllocationType type;
    CUmemAllocationHandleType requestedHandleTypes;
    CUmemLocation location;
    void* win32HandleMetaData;
    struct { unsigned char compressionType, gpuDirectRDMACapable; unsigned short usage; } allocFlags;
};
extern "C" {
CUresult cuArrayCreate(...);
CUresult cuArrayDestroy(...);
CUresult cuCtxCreate(...);
CUresult cuCtxDestroy(...);
CUresult cuCtxDetach(...);
CUresult cuCtxGetCurrent(...);
CUresult cuCtxGetDevice(...);
CUresult cuCtxPopCurrent(...);
CUresult cuCtxPushCurrent(...);
CUresult cuCtxSetCurrent(...);
CUresult cuCtxSetCacheConfig(...);
CUresult cuCtxSynchronize(...);
CUresult cuDeviceCanAccessPeer(...);
CUresult cuDeviceComputeCapability(...);
CUresult cuDeviceGet(...);
CUresult cuDeviceGetAttribute(...);
CUresult cuDeviceGetCount(...);
CUresult cuDeviceGetName(...);
CUresult cuDevicePrimaryCtxRetain(...);
CUresult cuDevicePrimaryCtxRelease(...);
CUresult cuDeviceTotalMem(...);
CUresult cuDriverGetVersion(...);
CUresult cuEventCreate(...);
CUresult cuEventDestroy(...);
CUresult cuEventElapsedTime(...);
CUresult cuEventQuery(...);
CUresult cuEventRecord(...);
CUresult cuEventSynchronize(...);
CUresult cuFuncGetAttribute(...);
CUresult cuFuncSetAttribute(...);
CUresult cuFuncSetCacheConfig(...);
CUresult cuGetErrorName(...);
CUresult cuGetErrorString(...);
CUresult cuGetProcAddress(...);
CUresult cuInit(...);
CUresult cuLaunchCooperativeKernel(...);
CUresult cuLaunchKernel(...);
CUresult cuLaunchKernelEx(...);
CUresult cuMemAddressFree(...);
CUresult cuMemAddressReserve(...);
CUresult cuMemAlloc(...);
CUresult cuMemAllocHost(...);
CUresult cuMemAllocManaged(...);
CUresult cuMemAllocPitch(...);
CUresult cuMemCreate(...);
CUresult cuMemExportToShareableHandle(...);
CUresult cuMemFree(...);
CUresult cuMemFreeHost(...);
CUresult cuMemGetAllocationGranularity(...);
CUresult cuMemGetAllocationPropertiesFromHandle(...);
CUresult cuMemGetInfo(...);
CUresult cuMemHostAlloc(...);
CUresult cuMemHostGetDevicePointer(...);
CUresult cuMemHostRegister(...);
CUresult cuMemImportFromShareableHandle(...);
CUresult cuMemMap(...);
CUresult cuMemRelease(...);
CUresult cuMemSetAccess(...);
CUresult cuMemUnmap(...);
CUresult cuMemcpy(...);
CUresult cuMemcpyAsync(...);
CUresult cuMemcpyDtoD(...);
CUresult cuMemcpyDtoH(...);
CUresult cuMemcpyDtoHAsync(...);
CUresult cuMemcpyHtoD(...);
CUresult cuMemcpyHtoDAsync(...);
CUresult cuMemsetD8(...);
CUresult cuMemsetD16(...);
CUresult cuMemsetD32(...);
CUresult cuModuleGetFunction(...);
CUresult cuModuleGetGlobal(...);
CUresult cuModuleGetTexRef(...);
CUresult cuModuleLoad(...);
CUresult cuModuleLoadData(...);
CUresult cuModuleLoadDataEx(...);
CUresult cuModuleLoadFatBinary(...);
CUresult cuModuleUnload(...);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(...);
CUresult cuOccupancyMaxPotentialBlockSize(...);
CUresult cuParamSetSize(...);
CUresult cuPointerGetAttribute(...);
CUresult cuStreamCreate(...);
CUresult cuStreamDestroy(...);
CUresult cuStreamQuery(...);
CUresult cuStreamSynchronize(...);
CUresult cuStreamWaitEvent(...);
CUresult cuSurfObjectCreate(...);
CUresult cuTensorMapEncodeTiled(...);
CUresult cuTexObjectCreate(...);
CUresult cuTexRefSetArray(...);
}
#pragma clang force_cuda_host_device end
