#pragma once
#pragma clang force_cuda_host_device begin
#include "_cudalint/cuda_library.h"
#define CUSPARSE_H_
#define CUSPARSEAPI
#define CUSPARSE_VERSION 12500
typedef struct cusparseContext* cusparseHandle_t;
typedef struct cusparseMatDescr* cusparseMatDescr_t;
typedef struct cusparseSpVecDescr* cusparseSpVecDescr_t;
typedef struct cusparseDnVecDescr* cusparseDnVecDescr_t;
typedef struct cusparseSpMatDescr* cusparseSpMatDescr_t;
typedef struct cusparseDnMatDescr* cusparseDnMatDescr_t;
typedef struct cusparseSpSVDescr* cusparseSpSVDescr_t;
typedef struct cusparseSpSMDescr* cusparseSpSMDescr_t;
typedef struct cusparseSpGEMMDescr* cusparseSpGEMMDescr_t;
typedef struct csrilu02Info* csrilu02Info_t;
typedef struct csric02Info* csric02Info_t;
typedef struct csrsv2Info* csrsv2Info_t;
typedef enum {
    CUSPARSE_STATUS_SUCCESS,
    CUSPARSE_STATUS_NOT_INITIALIZED,
    CUSPARSE_STATUS_ALLOC_FAILED,
    CUSPARSE_STATUS_INVALID_VALUE,
    CUSPARSE_STATUS_ARCH_MISMATCH,
    CUSPARSE_STATUS_MAPPING_ERROR,
    CUSPARSE_STATUS_EXECUTION_FAILED,
    CUSPARSE_STATUS_INTERNAL_ERROR,
    CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED,
    CUSPARSE_STATUS_ZERO_PIVOT,
    CUSPARSE_STATUS_NOT_SUPPORTED,
    CUSPARSE_STATUS_INSUFFICIENT_RESOURCES
} cusparseStatus_t;
typedef enum { CUSPARSE_POINTER_MODE_HOST, CUSPARSE_POINTER_MODE_DEVICE } cusparsePointerMode_t;
typedef enum { CUSPARSE_ACTION_SYMBOLIC, CUSPARSE_ACTION_NUMERIC } cusparseAction_t;
typedef enum { CUSPARSE_MATRIX_TYPE_GENERAL, CUSPARSE_MATRIX_TYPE_SYMMETRIC, CUSPARSE_MATRIX_TYPE_HERMITIAN, CUSPARSE_MATRIX_TYPE_TRIANGULAR } cusparseMatrixType_t;
typedef enum { CUSPARSE_FILL_MODE_LOWER, CUSPARSE_FILL_MODE_UPPER } cusparseFillMode_t;
typedef enum { CUSPARSE_DIAG_TYPE_NON_UNIT, CUSPARSE_DIAG_TYPE_UNIT } cusparseDiagType_t;
typedef enum { CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_INDEX_BASE_ONE } cusparseIndexBase_t;
typedef enum { CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE } cusparseOperation_t;
typedef enum { CUSPARSE_DIRECTION_ROW, CUSPARSE_DIRECTION_COLUMN } cusparseDirection_t;
typedef enum { CUSPARSE_SOLVE_POLICY_NO_LEVEL, CUSPARSE_SOLVE_POLICY_USE_LEVEL } cusparseSolvePolicy_t;
typedef enum { CUSPARSE_INDEX_16U = 1, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_64I } cusparseIndexType_t;
typedef enum { CUSPARSE_ORDER_COL = 1, CUSPARSE_ORDER_ROW } cusparseOrder_t;
typedef enum { CUSPARSE_SPMV_ALG_DEFAULT, CUSPARSE_SPMV_CSR_ALG1 = 2, CUSPARSE_SPMV_CSR_ALG2, CUSPARSE_MV_ALG_DEFAULT = 0, CUSPARSE_SPMV_COO_ALG1 = 1 } cusparseSpMVAlg_t;
typedef enum { CUSPARSE_SPMM_ALG_DEFAULT, CUSPARSE_SPMM_CSR_ALG1 = 4, CUSPARSE_SPMM_CSR_ALG2 = 6, CUSPARSE_SPMM_CSR_ALG3 = 12 } cusparseSpMMAlg_t;
typedef enum { CUSPARSE_SPGEMM_DEFAULT } cusparseSpGEMMAlg_t;
typedef enum { CUSPARSE_SDDMM_ALG_DEFAULT } cusparseSDDMMAlg_t;
typedef enum { CUSPARSE_SPSV_ALG_DEFAULT } cusparseSpSVAlg_t;
typedef enum { CUSPARSE_SPSM_ALG_DEFAULT } cusparseSpSMAlg_t;
typedef enum { CUSPARSE_SPARSETODENSE_ALG_DEFAULT } cusparseSparseToDenseAlg_t;
typedef enum { CUSPARSE_DENSETOSPARSE_ALG_DEFAULT } cusparseDenseToSparseAlg_t;
typedef enum { CUSPARSE_CSR2CSC_ALG1 = 1, CUSPARSE_CSR2CSC_ALG2 = 1, CUSPARSE_CSR2CSC_ALG_DEFAULT = 1 } cusparseCsr2CscAlg_t;
typedef enum { CUSPARSE_SPMAT_FILL_MODE, CUSPARSE_SPMAT_DIAG_TYPE } cusparseSpMatAttribute_t;
extern "C" {
const char* cusparseGetErrorString(cusparseStatus_t);
const char* cusparseGetErrorName(cusparseStatus_t);
cusparseStatus_t cusparseAxpby(...);
cusparseStatus_t cusparseCreate(...);
cusparseStatus_t cusparseCreateCoo(...);
cusparseStatus_t cusparseCreateCsc(...);
cusparseStatus_t cusparseCreateCsr(...);
cusparseStatus_t cusparseCreateCsrilu02Info(...);
cusparseStatus_t cusparseCreateDnMat(...);
cusparseStatus_t cusparseCreateDnVec(...);
cusparseStatus_t cusparseCreateIdentityPermutation(...);
cusparseStatus_t cusparseCreateMatDescr(...);
cusparseStatus_t cusparseCreateSpVec(...);
cusparseStatus_t cusparseCsr2cscEx2(...);
cusparseStatus_t cusparseCsr2cscEx2_bufferSize(...);
cusparseStatus_t cusparseCsrSetPointers(...);
cusparseStatus_t cusparseCsrSetStridedBatch(...);
cusparseStatus_t cusparseDcsrilu02(...);
cusparseStatus_t cusparseDcsrilu02_analysis(...);
cusparseStatus_t cusparseDcsrilu02_bufferSize(...);
cusparseStatus_t cusparseScsrilu02(...);
cusparseStatus_t cusparseScsrilu02_analysis(...);
cusparseStatus_t cusparseScsrilu02_bufferSize(...);
cusparseStatus_t cusparseDenseToSparse_analysis(...);
cusparseStatus_t cusparseDenseToSparse_bufferSize(...);
cusparseStatus_t cusparseDenseToSparse_convert(...);
cusparseStatus_t cusparseDestroy(...);
cusparseStatus_t cusparseDestroyCsrilu02Info(...);
cusparseStatus_t cusparseDestroyDnMat(...);
cusparseStatus_t cusparseDestroyDnVec(...);
cusparseStatus_t cusparseDestroyMatDescr(...);
cusparseStatus_t cusparseDestroySpMat(...);
cusparseStatus_t cusparseDestroySpVec(...);
cusparseStatus_t cusparseDgthr(...);
cusparseStatus_t cusparseDnMatSetStridedBatch(...);
cusparseStatus_t cusparseDnVecSetValues(...);
cusparseStatus_t cusparseGather(...);
cusparseStatus_t cusparseScatter(...);
cusparseStatus_t cusparseSDDMM(...);
cusparseStatus_t cusparseSDDMM_bufferSize(...);
cusparseStatus_t cusparseSDDMM_preprocess(...);
cusparseStatus_t cusparseSetMatDiagType(...);
cusparseStatus_t cusparseSetMatFillMode(...);
cusparseStatus_t cusparseSetMatIndexBase(...);
cusparseStatus_t cusparseSetMatType(...);
cusparseStatus_t cusparseSetPointerMode(...);
cusparseStatus_t cusparseSetStream(...);
cusparseStatus_t cusparseSgthr(...);
cusparseStatus_t cusparseSnnz(...);
cusparseStatus_t cusparseDnnz(...);
cusparseStatus_t cusparseSpGEMM_compute(...);
cusparseStatus_t cusparseSpGEMM_copy(...);
cusparseStatus_t cusparseSpGEMM_createDescr(...);
cusparseStatus_t cusparseSpGEMM_destroyDescr(...);
cusparseStatus_t cusparseSpGEMM_workEstimation(...);
cusparseStatus_t cusparseSpMM(...);
cusparseStatus_t cusparseSpMM_bufferSize(...);
cusparseStatus_t cusparseSpMM_preprocess(...);
cusparseStatus_t cusparseSpMV(...);
cusparseStatus_t cusparseSpMV_bufferSize(...);
cusparseStatus_t cusparseSpMV_preprocess(...);
cusparseStatus_t cusparseSpMatGetSize(...);
cusparseStatus_t cusparseSpMatSetAttribute(...);
cusparseStatus_t cusparseSpSM_analysis(...);
cusparseStatus_t cusparseSpSM_bufferSize(...);
cusparseStatus_t cusparseSpSM_createDescr(...);
cusparseStatus_t cusparseSpSM_destroyDescr(...);
cusparseStatus_t cusparseSpSM_solve(...);
cusparseStatus_t cusparseSpSV_analysis(...);
cusparseStatus_t cusparseSpSV_bufferSize(...);
cusparseStatus_t cusparseSpSV_createDescr(...);
cusparseStatus_t cusparseSpSV_destroyDescr(...);
cusparseStatus_t cusparseSpSV_solve(...);
cusparseStatus_t cusparseSpVV(...);
cusparseStatus_t cusparseSpVV_bufferSize(...);
cusparseStatus_t cusparseSparseToDense(...);
cusparseStatus_t cusparseSparseToDense_bufferSize(...);
cusparseStatus_t cusparseXcsrilu02_zeroPivot(...);
cusparseStatus_t cusparseXcsrsort(...);
cusparseStatus_t cusparseXcsrsort_bufferSizeExt(...);
cusparseStatus_t cusparseXcoo2csr(...);
cusparseStatus_t cusparseXcsr2coo(...);
}
#pragma clang force_cuda_host_device end
