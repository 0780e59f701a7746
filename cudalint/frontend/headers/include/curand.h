#pragma once
#pragma clang force_cuda_host_device begin
#include "_cudalint/cuda_library.h"
#define CURAND_H_
typedef struct curandGenerator_st* curandGenerator_t;
typedef struct curandDiscreteDistribution_st* curandDiscreteDistribution_t;
enum curandStatus {
    CURAND_STATUS_SUCCESS = 0,
    CURAND_STATUS_VERSION_MISMATCH = 100,
    CURAND_STATUS_NOT_INITIALIZED = 101,
    CURAND_STATUS_ALLOCATION_FAILED = 102,
    CURAND_STATUS_TYPE_ERROR = 103,
    CURAND_STATUS_OUT_OF_RANGE = 104,
    CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
    CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
    CURAND_STATUS_LAUNCH_FAILURE = 201,
    CURAND_STATUS_PREEXISTING_FAILURE = 202,
    CURAND_STATUS_INITIALIZATION_FAILED = 203,
    CURAND_STATUS_ARCH_MISMATCH = 204,
    CURAND_STATUS_INTERNAL_ERROR = 999
};
typedef enum curandStatus curandStatus_t;
enum curandRngType {
    CURAND_RNG_TEST = 0,
    CURAND_RNG_PSEUDO_DEFAULT = 100,
    CURAND_RNG_PSEUDO_XORWOW = 101,
    CURAND_RNG_PSEUDO_MRG32K3A = 121,
    CURAND_RNG_PSEUDO_MTGP32 = 141,
    CURAND_RNG_PSEUDO_MT19937 = 142,
    CURAND_RNG_PSEUDO_PHILOX4_32_10 = 161,
    CURAND_RNG_QUASI_DEFAULT = 200,
    CURAND_RNG_QUASI_SOBOL32 = 201,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 202,
    CURAND_RNG_QUASI_SOBOL64 = 203,
    CURAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 204
};
typedef enum curandRngType curandRngType_t;
enum curandOrdering {
    CURAND_ORDERING_PSEUDO_BEST = 100,
    CURAND_ORDERING_PSEUDO_DEFAULT = 101,
    CURAND_ORDERING_PSEUDO_SEEDED = 102,
    CURAND_ORDERING_PSEUDO_LEGACY = 103,
    CURAND_ORDERING_PSEUDO_DYNAMIC = 104,
    CURAND_ORDERING_QUASI_DEFAULT = 201
};
typedef enum curandOrdering curandOrdering_t;
enum curandDirectionVectorSet {
    CURAND_DIRECTION_VECTORS_32_JOEKUO6 = 101,
    CURAND_SCRAMBLED_DIRECTION_VECTORS_32_JOEKUO6,
    CURAND_DIRECTION_VECTORS_64_JOEKUO6,
    CURAND_SCRAMBLED_DIRECTION_VECTORS_64_JOEKUO6
};
typedef enum curandDirectionVectorSet curandDirectionVectorSet_t;
typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];
extern "C" {
curandStatus_t curandCreateGenerator(...);
curandStatus_t curandCreateGeneratorHost(...);
curandStatus_t curandDestroyGenerator(...);
curandStatus_t curandGenerate(...);
curandStatus_t curandGenerateLongLong(...);
curandStatus_t curandGenerateLogNormal(...);
curandStatus_t curandGenerateLogNormalDouble(...);
curandStatus_t curandGenerateNormal(...);
curandStatus_t curandGenerateNormalDouble(...);
curandStatus_t curandGeneratePoisson(...);
curandStatus_t curandGenerateSeeds(...);
curandStatus_t curandGenerateUniform(...);
curandStatus_t curandGenerateUniformDouble(...);
curandStatus_t curandGetDirectionVectors32(...);
curandStatus_t curandGetDirectionVectors64(...);
curandStatus_t curandGetScrambleConstants32(...);
curandStatus_t curandGetScrambleConstants64(...);
curandStatus_t curandGetVersion(...);
curandStatus_t curandSetGeneratorOffset(...);
curandStatus_t curandSetGeneratorOrdering(...);
curandStatus_t curandSetPseudoRandomGeneratorSeed(...);
curandStatus_t curandSetQuasiRandomGeneratorDimensions(...);
curandStatus_t curandSetStream(...);
}
#pragma clang force_cuda_host_device end
