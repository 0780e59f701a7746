#pragma once
#pragma clang force_cuda_host_device begin
#include "_cudalint/cuda_library.h"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#define CUBLAS_API_H_
#define CUBLAS_H_
#define CUBLAS_V2_H_
#define CUBLAS_VERSION 120805
typedef struct cublasContext* cublasHandle_t;
typedef enum {
    CUBLAS_STATUS_SUCCESS = 0,
    CUBLAS_STATUS_NOT_INITIALIZED = 1,
    CUBLAS_STATUS_ALLOC_FAILED = 3,
    CUBLAS_STATUS_INVALID_VALUE = 7,
    CUBLAS_STATUS_ARCH_MISMATCH = 8,
    CUBLAS_STATUS_MAPPING_ERROR = 11,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_INTERNAL_ERROR = 14,
    CUBLAS_STATUS_NOT_SUPPORTED = 15,
    CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef cublasStatus_t cublasStatus;
typedef enum { CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_FILL_MODE_FULL } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT } cublasSideMode_t;
typedef enum { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C, CUBLAS_OP_CONJG } cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED } cublasAtomicsMode_t;
typedef enum {
    CUBLAS_GEMM_DEFAULT = -1,
    CUBLAS_GEMM_DFALT = -1,
    CUBLAS_GEMM_ALGO0 = 0,
    CUBLAS_GEMM_ALGO1 = 1,
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99,
    CUBLAS_GEMM_DFALT_TENSOR_OP = 99
} cublasGemmAlgo_t;
typedef enum {
    CUBLAS_DEFAULT_MATH = 0,
    CUBLAS_TENSOR_OP_MATH = 1,
    CUBLAS_PEDANTIC_MATH = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3,
    CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
    CUBLAS_COMPUTE_16F = 64,
    CUBLAS_COMPUTE_16F_PEDANTIC = 65,
    CUBLAS_COMPUTE_32F = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC = 69,
    CUBLAS_COMPUTE_64F = 70,
    CUBLAS_COMPUTE_64F_PEDANTIC = 71,
    CUBLAS_COMPUTE_32I = 72,
    CUBLAS_COMPUTE_32F_FAST_16F = 74,
    CUBLAS_COMPUTE_32F_FAST_16BF = 75,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;
extern "C" {
const char* cublasGetStatusString(cublasStatus_t);
const char* cublasGetStatusName(cublasStatus_t);
cublasStatus_t cublasCreate(...);
cublasStatus_t cublasDestroy(...);
cublasStatus_t cublasCreate_v2(...);
cublasStatus_t cublasDestroy_v2(...);
cublasStatus_t cublasInit(...);
cublasStatus_t cublasShutdown(...);
cublasStatus_t cublasGetVersion(...);
cublasStatus_t cublasSetStream(...);
cublasStatus_t cublasGetStream(...);
cublasStatus_t cublasSetWorkspace(...);
cublasStatus_t cublasSetPointerMode(...);
cublasStatus_t cublasGetPointerMode(...);
cublasStatus_t cublasSetMathMode(...);
cublasStatus_t cublasGetMathMode(...);
cublasStatus_t cublasSetAtomicsMode(...);
cublasStatus_t cublasSetVector(...);
cublasStatus_t cublasGetVector(...);
cublasStatus_t cublasSetMatrix(...);
cublasStatus_t cublasGetMatrix(...);
cublasStatus_t cublasSetVectorAsync(...);
cublasStatus_t cublasGetVectorAsync(...);
cublasStatus_t cublasSetMatrixAsync(...);
cublasStatus_t cublasGetMatrixAsync(...);
cublasStatus_t cublasGemmEx(...);
cublasStatus_t cublasGemmBatchedEx(...);
cublasStatus_t cublasGemmStridedBatchedEx(...);
cublasStatus_t cublasDotEx(...);
cublasStatus_t cublasAxpyEx(...);
cublasStatus_t cublasScalEx(...);
cublasStatus_t cublasNrm2Ex(...);
cublasStatus_t cublasHgemm(...);
cublasStatus_t cublasHgemmBatched(...);
cublasStatus_t cublasHgemmStridedBatched(...);
cublasStatus_t cublasSgemmEx(...);
cublasStatus_t cublasCgemm3m(...);
cublasStatus_t cublasSaxpy(...);
cublasStatus_t cublasScopy(...);
cublasStatus_t cublasSscal(...);
cublasStatus_t cublasSswap(...);
cublasStatus_t cublasSdot(...);
cublasStatus_t cublasSnrm2(...);
cublasStatus_t cublasSasum(...);
cublasStatus_t cublasSrot(...);
cublasStatus_t cublasSrotg(...);
cublasStatus_t cublasSgemv(...);
cublasStatus_t cublasSger(...);
cublasStatus_t cublasSgbmv(...);
cublasStatus_t cublasSsymv(...);
cublasStatus_t cublasSsyr(...);
cublasStatus_t cublasSsyr2(...);
cublasStatus_t cublasStrmv(...);
cublasStatus_t cublasStrsv(...);
cublasStatus_t cublasSgemm(...);
cublasStatus_t cublasSgemmBatched(...);
cublasStatus_t cublasSgemmStridedBatched(...);
cublasStatus_t cublasSsymm(...);
cublasStatus_t cublasSsyrk(...);
cublasStatus_t cublasSsyr2k(...);
cublasStatus_t cublasStrmm(...);
cublasStatus_t cublasStrsm(...);
cublasStatus_t cublasStrsmBatched(...);
cublasStatus_t cublasSgeam(...);
cublasStatus_t cublasSdgmm(...);
cublasStatus_t cublasSgetrfBatched(...);
cublasStatus_t cublasSgetrsBatched(...);
cublasStatus_t cublasSgetriBatched(...);
cublasStatus_t cublasSgelsBatched(...);
cublasStatus_t cublasSgeqrfBatched(...);
cublasStatus_t cublasSmatinvBatched(...);
cublasStatus_t cublasSgemm_v2(...);
cublasStatus_t cublasSgemv_v2(...);
cublasStatus_t cublasSdot_v2(...);
cublasStatus_t cublasSaxpy_v2(...);
cublasStatus_t cublasSscal_v2(...);
cublasStatus_t cublasSnrm2_v2(...);
cublasStatus_t cublasDaxpy(...);
cublasStatus_t cublasDcopy(...);
cublasStatus_t cublasDscal(...);
cublasStatus_t cublasDswap(...);
cublasStatus_t cublasDdot(...);
cublasStatus_t cublasDnrm2(...);
cublasStatus_t cublasDasum(...);
cublasStatus_t cublasDrot(...);
cublasStatus_t cublasDrotg(...);
cublasStatus_t cublasDgemv(...);
cublasStatus_t cublasDger(...);
cublasStatus_t cublasDgbmv(...);
cublasStatus_t cublasDsymv(...);
cublasStatus_t cublasDsyr(...);
cublasStatus_t cublasDsyr2(...);
cublasStatus_t cublasDtrmv(...);
cublasStatus_t cublasDtrsv(...);
cublasStatus_t cublasDgemm(...);
cublasStatus_t cublasDgemmBatched(...);
cublasStatus_t cublasDgemmStridedBatched(...);
cublasStatus_t cublasDsymm(...);
cublasStatus_t cublasDsyrk(...);
cublasStatus_t cublasDsyr2k(...);
cublasStatus_t cublasDtrmm(...);
cublasStatus_t cublasDtrsm(...);
cublasStatus_t cublasDtrsmBatched(...);
cublasStatus_t cublasDgeam(...);
cublasStatus_t cublasDdgmm(...);
cublasStatus_t cublasDgetrfBatched(...);
cublasStatus_t cublasDgetrsBatched(...);
cublasStatus_t cublasDgetriBatched(...);
cublasStatus_t cublasDgelsBatched(...);
cublasStatus_t cublasDgeqrfBatched(...);
cublasStatus_t cublasDmatinvBatched(...);
cublasStatus_t cublasDgemm_v2(...);
cublasStatus_t cublasDgemv_v2(...);
cublasStatus_t cublasDdot_v2(...);
cublasStatus_t cublasDaxpy_v2(...);
cublasStatus_t cublasDscal_v2(...);
cublasStatus_t cublasDnrm2_v2(...);
cublasStatus_t cublasCaxpy(...);
cublasStatus_t cublasCcopy(...);
cublasStatus_t cublasCscal(...);
cublasStatus_t cublasCswap(...);
cublasStatus_t cublasCdot(...);
cublasStatus_t cublasCnrm2(...);
cublasStatus_t cublasCasum(...);
cublasStatus_t cublasCrot(...);
cublasStatus_t cublasCrotg(...);
cublasStatus_t cublasCgemv(...);
cublasStatus_t cublasCger(...);
cublasStatus_t cublasCgbmv(...);
cublasStatus_t cublasCsymv(...);
cublasStatus_t cublasCsyr(...);
cublasStatus_t cublasCsyr2(...);
cublasStatus_t cublasCtrmv(...);
cublasStatus_t cublasCtrsv(...);
cublasStatus_t cublasCgemm(...);
cublasStatus_t cublasCgemmBatched(...);
cublasStatus_t cublasCgemmStridedBatched(...);
cublasStatus_t cublasCsymm(...);
cublasStatus_t cublasCsyrk(...);
cublasStatus_t cublasCsyr2k(...);
cublasStatus_t cublasCtrmm(...);
cublasStatus_t cublasCtrsm(...);
cublasStatus_t cublasCtrsmBatched(...);
cublasStatus_t cublasCgeam(...);
cublasStatus_t cublasCdgmm(...);
cublasStatus_t cublasCgetrfBatched(...);
cublasStatus_t cublasCgetrsBatched(...);
cublasStatus_t cublasCgetriBatched(...);
cublasStatus_t cublasCgelsBatched(...);
cublasStatus_t cublasCgeqrfBatched(...);
cublasStatus_t cublasCmatinvBatched(...);
cublasStatus_t cublasCgemm_v2(...);
cublasStatus_t cublasCgemv_v2(...);
cublasStatus_t cublasCdot_v2(...);
cublasStatus_t cublasCaxpy_v2(...);
cublasStatus_t cublasCscal_v2(...);
cublasStatus_t cublasCnrm2_v2(...);
cublasStatus_t cublasZaxpy(...);
cublasStatus_t cublasZcopy(...);
cublasStatus_t cublasZscal(...);
cublasStatus_t cublasZswap(...);
cublasStatus_t cublasZdot(...);
cublasStatus_t cublasZnrm2(...);
cublasStatus_t cublasZasum(...);
cublasStatus_t cublasZrot(...);
cublasStatus_t cublasZrotg(...);
cublasStatus_t cublasZgemv(...);
cublasStatus_t cublasZger(...);
cublasStatus_t cublasZgbmv(...);
cublasStatus_t cublasZsymv(...);
cublasStatus_t cublasZsyr(...);
cublasStatus_t cublasZsyr2(...);
cublasStatus_t cublasZtrmv(...);
cublasStatus_t cublasZtrsv(...);
cublasStatus_t cublasZgemm(...);
cublasStatus_t cublasZgemmBatched(...);
cublasStatus_t cublasZgemmStridedBatched(...);
cublasStatus_t cublasZsymm(...);
cublasStatus_t cublasZsyrk(...);
cublasStatus_t cublasZsyr2k(...);
cublasStatus_t cublasZtrmm(...);
cublasStatus_t cublasZtrsm(...);
cublasStatus_t cublasZtrsmBatched(...);
cublasStatus_t cublasZgeam(...);
cublasStatus_t cublasZdgmm(...);
cublasStatus_t cublasZgetrfBatched(...);
cublasStatus_t cublasZgetrsBatched(...);
cublasStatus_t cublasZgetriBatched(...);
cublasStatus_t cublasZgelsBatched(...);
cublasStatus_t cublasZgeqrfBatched(...);
cublasStatus_t cublasZmatinvBatched(...);
cublasStatus_t cublasZgemm_v2(...);
cublasStatus_t cublasZgemv_v2(...);
cublasStatus_t cublasZdot_v2(...);
cublasStatus_t cublasZaxpy_v2(...);
cublasStatus_t cublasZscal_v2(...);
cublasStatus_t cublasZnrm2_v2(...);
cublasStatus_t cublasCdotu(...);
cublasStatus_t cublasCdotc(...);
cublasStatus_t cublasZdotu(...);
cublasStatus_t cublasZdotc(...);
cublasStatus_t cublasCgeru(...);
cublasStatus_t cublasCgerc(...);
cublasStatus_t cublasZgeru(...);
cublasStatus_t cublasZgerc(...);
cublasStatus_t cublasChemv(...);
cublasStatus_t cublasZhemv(...);
cublasStatus_t cublasChemm(...);
cublasStatus_t cublasZhemm(...);
cublasStatus_t cublasCherk(...);
cublasStatus_t cublasZherk(...);
cublasStatus_t cublasScnrm2(...);
cublasStatus_t cublasDznrm2(...);
cublasStatus_t cublasScasum(...);
cublasStatus_t cublasDzasum(...);
cublasStatus_t cublasCsscal(...);
cublasStatus_t cublasZdscal(...);
cublasStatus_t cublasIsamax(...);
cublasStatus_t cublasIdamax(...);
cublasStatus_t cublasIcamax(...);
cublasStatus_t cublasIzamax(...);
cublasStatus_t cublasIsamin(...);
cublasStatus_t cublasIdamin(...);
cublasStatus_t cublasSnrm2_64(...);
cublasStatus_t cublasIcamax_64(...);
cublasStatus_t cublasCdgmm_64(...);
cublasStatus_t cublasCgemm_64(...);
}
#pragma clang force_cuda_host_device end
