#pragma once
#pragma clang force_cuda_host_device begin
#define CURAND_KERNEL_H_
#include "curand.h"
// The states keep their sizes, because kernels load and store whole states.
struct curandStateXORWOW { unsigned d, v[5]; int boxmuller_flag, boxmuller_flag_double; float boxmuller_extra; double boxmuller_extra_double; };
struct curandStatePhilox4_32_10 { uint4 ctr, output; uint2 key; unsigned STATE; int boxmuller_flag, boxmuller_flag_double; float boxmuller_extra; double boxmuller_extra_double; };
struct curandStateMRG32k3a { unsigned s1[3], s2[3]; int boxmuller_flag, boxmuller_flag_double; float boxmuller_extra; double boxmuller_extra_double; };
struct curandStateMtgp32 { unsigned s[1024]; int offset, pIdx; void* k; };
struct curandStateSobol32 { unsigned i, x, c, direction_vectors[32]; };
struct curandStateScrambledSobol32 { unsigned i, x, c, direction_vectors[32]; };
struct curandStateSobol64 { unsigned long long i, x, c, direction_vectors[64]; };
struct curandStateScrambledSobol64 { unsigned long long i, x, c, direction_vectors[64]; };
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
typedef curandStateMtgp32 curandStateMtgp32_t;
typedef curandStateSobol32 curandStateSobol32_t;
typedef curandStateScrambledSobol32 curandStateScrambledSobol32_t;
typedef curandStateSobol64 curandStateSobol64_t;
typedef curandStateScrambledSobol64 curandStateScrambledSobol64_t;
template <class _S> void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset, _S* state);
template <class _V, class _S> void curand_init(_V* direction_vectors, unsigned offset, _S* state);
template <class _V, class _S> void curand_init(_V* direction_vectors, unsigned long long scramble, unsigned offset, _S* state);
template <class _S> unsigned curand(_S*);
unsigned long long curand(curandStateSobol64*);
template <class _S> uint4 curand4(_S*);
template <class _S> float curand_uniform(_S*);
template <class _S> float4 curand_uniform4(_S*);
template <class _S> double curand_uniform_double(_S*);
template <class _S> double2 curand_uniform2_double(_S*);
template <class _S> double4 curand_uniform4_double(_S*);
template <class _S> float curand_normal(_S*);
template <class _S> float2 curand_normal2(_S*);
template <class _S> float4 curand_normal4(_S*);
template <class _S> double curand_normal_double(_S*);
template <class _S> double2 curand_normal2_double(_S*);
template <class _S> float curand_log_normal(_S*, float mean, float deviation);
template <class _S> float2 curand_log_normal2(_S*, float mean, float deviation);
template <class _S> double curand_log_normal_double(_S*, double mean, double deviation);
template <class _S> unsigned curand_poisson(_S*, double lambda);
template <class _S> unsigned curand_discrete(_S*, curandDiscreteDistribution_t);
template <class _N, class _S> void skipahead(_N, _S*);
template <class _N, class _S> void skipahead_sequence(_N, _S*);
#pragma clang force_cuda_host_device end
