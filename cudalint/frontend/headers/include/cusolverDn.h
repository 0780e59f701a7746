#pragma once
#pragma clang force_cuda_host_device begin
#include "cublas_v2.h"
#include "cusparse.h"
#define CUSOLVER_COMMON_H_
typedef struct cusolverDnContext* cusolverDnHandle_t;
typedef struct cusolverSpContext* cusolverSpHandle_t;
typedef struct syevjInfo* syevjInfo_t;
typedef struct gesvdjInfo* gesvdjInfo_t;
typedef struct cusolverDnParams* cusolverDnParams_t;
typedef enum {
    CUSOLVER_STATUS_SUCCESS,
    CUSOLVER_STATUS_NOT_INITIALIZED,
    CUSOLVER_STATUS_ALLOC_FAILED,
    CUSOLVER_STATUS_INVALID_VALUE,
    CUSOLVER_STATUS_ARCH_MISMATCH,
    CUSOLVER_STATUS_MAPPING_ERROR,
    CUSOLVER_STATUS_EXECUTION_FAILED,
    CUSOLVER_STATUS_INTERNAL_ERROR,
    CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED,
    CUSOLVER_STATUS_NOT_SUPPORTED,
    CUSOLVER_STATUS_ZERO_PIVOT,
    CUSOLVER_STATUS_INVALID_LICENSE
} cusolverStatus_t;
typedef enum { CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_VECTOR } cusolverEigMode_t;
extern "C" {
cusolverStatus_t cusolverDnCreate(...);
cusolverStatus_t cusolverDnDestroy(...);
cusolverStatus_t cusolverDnSetStream(...);
cusolverStatus_t cusolverDnCreateSyevjInfo(...);
cusolverStatus_t cusolverDnDestroySyevjInfo(...);
cusolverStatus_t cusolverDnCreateGesvdjInfo(...);
cusolverStatus_t cusolverDnDestroyGesvdjInfo(...);
cusolverStatus_t cusolverSpCreate(...);
cusolverStatus_t cusolverSpDestroy(...);
cusolverStatus_t cusolverSpSetStream(...);
cusolverStatus_t cusolverSpDcsrlsvchol(...);
cusolverStatus_t cusolverSpScsrlsvchol(...);
cusolverStatus_t cusolverSpDcsrlsvqr(...);
cusolverStatus_t cusolverSpScsrlsvqr(...);
cusolverStatus_t cusolverDnSpotrf(...);
cusolverStatus_t cusolverDnSpotrf_bufferSize(...);
cusolverStatus_t cusolverDnSpotrs(...);
cusolverStatus_t cusolverDnSpotrs_bufferSize(...);
cusolverStatus_t cusolverDnSgetrf(...);
cusolverStatus_t cusolverDnSgetrf_bufferSize(...);
cusolverStatus_t cusolverDnSgetrs(...);
cusolverStatus_t cusolverDnSgetrs_bufferSize(...);
cusolverStatus_t cusolverDnSgeqrf(...);
cusolverStatus_t cusolverDnSgeqrf_bufferSize(...);
cusolverStatus_t cusolverDnSormqr(...);
cusolverStatus_t cusolverDnSormqr_bufferSize(...);
cusolverStatus_t cusolverDnSsyevd(...);
cusolverStatus_t cusolverDnSsyevd_bufferSize(...);
cusolverStatus_t cusolverDnSsyevj(...);
cusolverStatus_t cusolverDnSsyevj_bufferSize(...);
cusolverStatus_t cusolverDnSheevd(...);
cusolverStatus_t cusolverDnSheevd_bufferSize(...);
cusolverStatus_t cusolverDnSgesvd(...);
cusolverStatus_t cusolverDnSgesvd_bufferSize(...);
cusolverStatus_t cusolverDnSgesvdj(...);
cusolverStatus_t cusolverDnSgesvdj_bufferSize(...);
cusolverStatus_t cusolverDnSpotrfBatched(...);
cusolverStatus_t cusolverDnSpotrfBatched_bufferSize(...);
cusolverStatus_t cusolverDnSpotrsBatched(...);
cusolverStatus_t cusolverDnSpotrsBatched_bufferSize(...);
cusolverStatus_t cusolverDnSgesvdjBatched(...);
cusolverStatus_t cusolverDnSgesvdjBatched_bufferSize(...);
cusolverStatus_t cusolverDnSsyevjBatched(...);
cusolverStatus_t cusolverDnSsyevjBatched_bufferSize(...);
cusolverStatus_t cusolverDnDpotrf(...);
cusolverStatus_t cusolverDnDpotrf_bufferSize(...);
cusolverStatus_t cusolverDnDpotrs(...);
cusolverStatus_t cusolverDnDpotrs_bufferSize(...);
cusolverStatus_t cusolverDnDgetrf(...);
cusolverStatus_t cusolverDnDgetrf_bufferSize(...);
cusolverStatus_t cusolverDnDgetrs(...);
cusolverStatus_t cusolverDnDgetrs_bufferSize(...);
cusolverStatus_t cusolverDnDgeqrf(...);
cusolverStatus_t cusolverDnDgeqrf_bufferSize(...);
cusolverStatus_t cusolverDnDormqr(...);
cusolverStatus_t cusolverDnDormqr_bufferSize(...);
cusolverStatus_t cusolverDnDsyevd(...);
cusolverStatus_t cusolverDnDsyevd_bufferSize(...);
cusolverStatus_t cusolverDnDsyevj(...);
cusolverStatus_t cusolverDnDsyevj_bufferSize(...);
cusolverStatus_t cusolverDnDheevd(...);
cusolverStatus_t cusolverDnDheevd_bufferSize(...);
cusolverStatus_t cusolverDnDgesvd(...);
cusolverStatus_t cusolverDnDgesvd_bufferSize(...);
cusolverStatus_t cusolverDnDgesvdj(...);
cusolverStatus_t cusolverDnDgesvdj_bufferSize(...);
cusolverStatus_t cusolverDnDpotrfBatched(...);
cusolverStatus_t cusolverDnDpotrfBatched_bufferSize(...);
cusolverStatus_t cusolverDnDpotrsBatched(...);
cusolverStatus_t cusolverDnDpotrsBatched_bufferSize(...);
cusolverStatus_t cusolverDnDgesvdjBatched(...);
cusolverStatus_t cusolverDnDgesvdjBatched_bufferSize(...);
cusolverStatus_t cusolverDnDsyevjBatched(...);
cusolverStatus_t cusolverDnDsyevjBatched_bufferSize(...);
cusolverStatus_t cusolverDnCpotrf(...);
cusolverStatus_t cusolverDnCpotrf_bufferSize(...);
cusolverStatus_t cusolverDnCpotrs(...);
cusolverStatus_t cusolverDnCpotrs_bufferSize(...);
cusolverStatus_t cusolverDnCgetrf(...);
cusolverStatus_t cusolverDnCgetrf_bufferSize(...);
cusolverStatus_t cusolverDnCgetrs(...);
cusolverStatus_t cusolverDnCgetrs_bufferSize(...);
cusolverStatus_t cusolverDnCgeqrf(...);
cusolverStatus_t cusolverDnCgeqrf_bufferSize(...);
cusolverStatus_t cusolverDnCormqr(...);
cusolverStatus_t cusolverDnCormqr_bufferSize(...);
cusolverStatus_t cusolverDnCsyevd(...);
cusolverStatus_t cusolverDnCsyevd_bufferSize(...);
cusolverStatus_t cusolverDnCsyevj(...);
cusolverStatus_t cusolverDnCsyevj_bufferSize(...);
cusolverStatus_t cusolverDnCheevd(...);
cusolverStatus_t cusolverDnCheevd_bufferSize(...);
cusolverStatus_t cusolverDnCgesvd(...);
cusolverStatus_t cusolverDnCgesvd_bufferSize(...);
cusolverStatus_t cusolverDnCgesvdj(...);
cusolverStatus_t cusolverDnCgesvdj_bufferSize(...);
cusolverStatus_t cusolverDnCpotrfBatched(...);
cusolverStatus_t cusolverDnCpotrfBatched_bufferSize(...);
cusolverStatus_t cusolverDnCpotrsBatched(...);
cusolverStatus_t cusolverDnCpotrsBatched_bufferSize(...);
cusolverStatus_t cusolverDnCgesvdjBatched(...);
cusolverStatus_t cusolverDnCgesvdjBatched_bufferSize(...);
cusolverStatus_t cusolverDnCsyevjBatched(...);
cusolverStatus_t cusolverDnCsyevjBatched_bufferSize(...);
cusolverStatus_t cusolverDnZpotrf(...);
cusolverStatus_t cusolverDnZpotrf_bufferSize(...);
cusolverStatus_t cusolverDnZpotrs(...);
cusolverStatus_t cusolverDnZpotrs_bufferSize(...);
cusolverStatus_t cusolverDnZgetrf(...);
cusolverStatus_t cusolverDnZgetrf_bufferSize(...);
cusolverStatus_t cusolverDnZgetrs(...);
cusolverStatus_t cusolverDnZgetrs_bufferSize(...);
cusolverStatus_t cusolverDnZgeqrf(...);
cusolverStatus_t cusolverDnZgeqrf_bufferSize(...);
cusolverStatus_t cusolverDnZormqr(...);
cusolverStatus_t cusolverDnZormqr_bufferSize(...);
cusolverStatus_t cusolverDnZsyevd(...);
cusolverStatus_t cusolverDnZsyevd_bufferSize(...);
cusolverStatus_t cusolverDnZsyevj(...);
cusolverStatus_t cusolverDnZsyevj_bufferSize(...);
cusolverStatus_t cusolverDnZheevd(...);
cusolverStatus_t cusolverDnZheevd_bufferSize(...);
cusolverStatus_t cusolverDnZgesvd(...);
cusolverStatus_t cusolverDnZgesvd_bufferSize(...);
cusolverStatus_t cusolverDnZgesvdj(...);
cusolverStatus_t cusolverDnZgesvdj_bufferSize(...);
cusolverStatus_t cusolverDnZpotrfBatched(...);
cusolverStatus_t cusolverDnZpotrfBatched_bufferSize(...);
cusolverStatus_t cusolverDnZpotrsBatched(...);
cusolverStatus_t cusolverDnZpotrsBatched_bufferSize(...);
cusolverStatus_t cusolverDnZgesvdjBatched(...);
cusolverStatus_t cusolverDnZgesvdjBatched_bufferSize(...);
cusolverStatus_t cusolverDnZsyevjBatched(...);
cusolverStatus_t cusolverDnZsyevjBatched_bufferSize(...);
}
#pragma clang force_cuda_host_device end
