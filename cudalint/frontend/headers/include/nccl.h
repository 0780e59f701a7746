#pragma once
#pragma clang force_cuda_host_device begin
#include "cuda_bf16.h"
#include "cuda_fp16.h"
typedef struct ncclComm* ncclComm_t;
struct ncclUniqueId { char internal[128]; };
typedef enum { ncclSuccess, ncclUnhandledCudaError, ncclSystemError, ncclInternalError, ncclInvalidArgument, ncclInvalidUsage, ncclRemoteError, ncclInProgress } ncclResult_t;
typedef enum { ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg } ncclRedOp_t;
typedef enum {
    ncclInt8 = 0,
    ncclChar = 0,
    ncclUint8 = 1,
    ncclInt32 = 2,
    ncclInt = 2,
    ncclUint32 = 3,
    ncclInt64 = 4,
    ncclUint64 = 5,
    ncclFloat16 = 6,
    ncclHalf = 6,
    ncclFloat32 = 7,
    ncclFloat = 7,
    ncclFloat64 = 8,
    ncclDouble = 8,
    ncclBfloat16 = 9,
    ncclFloat8e4m3 = 10,
    ncclFloat8e5m2 = 11
} ncclDataType_t;
extern "C" {
const char* ncclGetErrorString(ncclResult_t);
ncclResult_t ncclAllGather(...);
ncclResult_t ncclAllReduce(...);
ncclResult_t ncclBcast(...);
ncclResult_t ncclBroadcast(...);
ncclResult_t ncclCommAbort(...);
ncclResult_t ncclCommCount(...);
ncclResult_t ncclCommCuDevice(...);
ncclResult_t ncclCommDestroy(...);
ncclResult_t ncclCommFinalize(...);
ncclResult_t ncclCommInitAll(...);
ncclResult_t ncclCommInitRank(...);
ncclResult_t ncclCommUserRank(...);
ncclResult_t ncclGetUniqueId(...);
ncclResult_t ncclGetVersion(...);
ncclResult_t ncclGroupEnd(...);
ncclResult_t ncclGroupStart(...);
ncclResult_t ncclRecv(...);
ncclResult_t ncclReduce(...);
ncclResult_t ncclReduceScatter(...);
ncclResult_t ncclSend(...);
}
#pragma clang force_cuda_host_device end
