// Built-in device functions: synchronisation, warp functions, atomics, loads and stores with a cache
// hint, integer and floating-point intrinsics, casts.
#pragma once

// Synchronisation and time.
// The compiler has a __device__ function of this name itself, which the forced attributes would clash with.
#pragma clang force_cuda_host_device end
__device__ void __syncthreads();
#pragma clang force_cuda_host_device begin
int __syncthreads_count(int);
int __syncthreads_and(int);
int __syncthreads_or(int);
void __syncwarp(unsigned mask = 0xffffffffu);
void __threadfence();
void __threadfence_block();
void __threadfence_system();
void __barrier_sync(unsigned id);
void __barrier_sync_count(unsigned id, unsigned count);
void __nanosleep(unsigned);
void __trap();
void __brkpt();
void __prof_trigger(int);
void __pm0();
void __pm1();
void __pm2();
void __pm3();
long long clock64();
unsigned long long globaltimer();
extern "C" void __assert_fail(const char*, const char*, unsigned, const char*) __attribute__((noreturn));
extern "C" void __assertfail(const char*, const char*, unsigned, const char*, size_t);

// Warp functions.
int __all(int);
int __any(int);
unsigned __ballot(int);
int __all_sync(unsigned mask, int);
int __any_sync(unsigned mask, int);
int __uni_sync(unsigned mask, int);
unsigned __ballot_sync(unsigned mask, int);
unsigned __activemask();
unsigned __lanemask_lt();
template <class _T> unsigned __match_any_sync(unsigned mask, _T value);
template <class _T> unsigned __match_all_sync(unsigned mask, _T value, int* all);
#define _CUDALINT_REDUCE(_F)                                                                                \
    unsigned __reduce_##_F##_sync(unsigned mask, unsigned value);                                           \
    int __reduce_##_F##_sync(unsigned mask, int value);
_CUDALINT_REDUCE(add)
_CUDALINT_REDUCE(min)
_CUDALINT_REDUCE(max)
#undef _CUDALINT_REDUCE
unsigned __reduce_and_sync(unsigned mask, unsigned value);
unsigned __reduce_or_sync(unsigned mask, unsigned value);
unsigned __reduce_xor_sync(unsigned mask, unsigned value);
template <class _T> _T __shfl(_T value, int lane, int width = 32);
template <class _T> _T __shfl_up(_T value, unsigned delta, int width = 32);
template <class _T> _T __shfl_down(_T value, unsigned delta, int width = 32);
template <class _T> _T __shfl_xor(_T value, int mask, int width = 32);
template <class _T> _T __shfl_sync(unsigned mask, _T value, int lane, int width = 32);
template <class _T> _T __shfl_up_sync(unsigned mask, _T value, unsigned delta, int width = 32);
template <class _T> _T __shfl_down_sync(unsigned mask, _T value, unsigned delta, int width = 32);
template <class _T> _T __shfl_xor_sync(unsigned mask, _T value, int lane, int width = 32);

// Atomics. Templates stand for the overloads on element types, so that a file's own overload of the same
// name (`atomicMax` for float) is preferred to them and never clashes with them.
#define _CUDALINT_ATOMIC(_F)                                                                                \
    template <class _T> _T _F(_T* address, _cudalint::same<_T> value);                                      \
    template <class _T> _T _F##_block(_T* address, _cudalint::same<_T> value);                              \
    template <class _T> _T _F##_system(_T* address, _cudalint::same<_T> value);                             \
    template <class _T> _T _F(volatile _T* address, _cudalint::same<_T> value);
_CUDALINT_ATOMIC(atomicAdd)
_CUDALINT_ATOMIC(atomicSub)
_CUDALINT_ATOMIC(atomicExch)
_CUDALINT_ATOMIC(atomicMin)
_CUDALINT_ATOMIC(atomicMax)
_CUDALINT_ATOMIC(atomicInc)
_CUDALINT_ATOMIC(atomicDec)
_CUDALINT_ATOMIC(atomicAnd)
_CUDALINT_ATOMIC(atomicOr)
_CUDALINT_ATOMIC(atomicXor)
#undef _CUDALINT_ATOMIC
template <class _T> _T atomicCAS(_T* address, _cudalint::same<_T> compare, _cudalint::same<_T> value);
template <class _T> _T atomicCAS(volatile _T* address, _cudalint::same<_T> compare, _cudalint::same<_T> value);
template <class _T> _T atomicCAS_block(_T* address, _cudalint::same<_T> compare, _cudalint::same<_T> value);
template <class _T> _T atomicCAS_system(_T* address, _cudalint::same<_T> compare, _cudalint::same<_T> value);
#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 0
#define __NV_THREAD_SCOPE_BLOCK 1
#define __NV_THREAD_SCOPE_CLUSTER 2
#define __NV_THREAD_SCOPE_DEVICE 3
#define __NV_THREAD_SCOPE_SYSTEM 4
#define _CUDALINT_SCOPE int scope = __NV_THREAD_SCOPE_SYSTEM
template <class _T> _T __nv_atomic_load_n(_T* address, int order, _CUDALINT_SCOPE);
template <class _T> void __nv_atomic_load(_T* address, _T* result, int order, _CUDALINT_SCOPE);
template <class _T> void __nv_atomic_store_n(_T* address, _cudalint::same<_T> value, int order, _CUDALINT_SCOPE);
template <class _T> void __nv_atomic_store(_T* address, _T* value, int order, _CUDALINT_SCOPE);
template <class _T> void __nv_atomic_exchange(_T* address, _T* value, _T* result, int order, _CUDALINT_SCOPE);
template <class _T>
bool __nv_atomic_compare_exchange_n(_T* address, _T* expected, _cudalint::same<_T> desired, bool weak, int, int, _CUDALINT_SCOPE);
template <class _T>
bool __nv_atomic_compare_exchange(_T* address, _T* expected, _T* desired, bool weak, int, int, _CUDALINT_SCOPE);
#define _CUDALINT_NV_ATOMIC(_F)                                                                             \
    template <class _T> _T __nv_atomic_fetch_##_F(_T* address, _cudalint::same<_T> value, int order, _CUDALINT_SCOPE); \
    template <class _T> void __nv_atomic_##_F(_T* address, _cudalint::same<_T> value, int order, _CUDALINT_SCOPE);
_CUDALINT_NV_ATOMIC(add)
_CUDALINT_NV_ATOMIC(sub)
_CUDALINT_NV_ATOMIC(and)
_CUDALINT_NV_ATOMIC(or)
_CUDALINT_NV_ATOMIC(xor)
_CUDALINT_NV_ATOMIC(min)
_CUDALINT_NV_ATOMIC(max)
#undef _CUDALINT_NV_ATOMIC
template <class _T> _T __nv_atomic_exchange_n(_T* address, _cudalint::same<_T> value, int order, _CUDALINT_SCOPE);
#undef _CUDALINT_SCOPE

// Loads and stores with a cache hint.
template <class _T> _T __ldg(const _T* address);
template <class _T> _T __ldca(const _T* address);
template <class _T> _T __ldcg(const _T* address);
template <class _T> _T __ldcs(const _T* address);
template <class _T> _T __ldcv(const _T* address);
template <class _T> _T __ldlu(const _T* address);
template <class _T> void __stcg(_T* address, _cudalint::same<_T> value);
template <class _T> void __stcs(_T* address, _cudalint::same<_T> value);
template <class _T> void __stwb(_T* address, _cudalint::same<_T> value);
template <class _T> void __stwt(_T* address, _cudalint::same<_T> value);

// Address spaces.
size_t __cvta_generic_to_shared(const void*);
size_t __cvta_generic_to_global(const void*);
size_t __cvta_generic_to_local(const void*);
size_t __cvta_generic_to_constant(const void*);
void* __cvta_shared_to_generic(size_t);
void* __cvta_global_to_generic(size_t);
unsigned __isShared(const void*);
unsigned __isGlobal(const void*);
unsigned __isConstant(const void*);
unsigned __isLocal(const void*);
unsigned __isGridConstant(const void*);

// Minimum and maximum have a body: index arithmetic leans on them.
#define _CUDALINT_MINMAX(_R, _A, _B)                                                                        \
    constexpr _R min(_A a, _B b) { return (_R)a < (_R)b ? (_R)a : (_R)b; }                                  \
    constexpr _R max(_A a, _B b) { return (_R)a > (_R)b ? (_R)a : (_R)b; }
_CUDALINT_MINMAX(int, int, int)
_CUDALINT_MINMAX(unsigned, unsigned, unsigned)
_CUDALINT_MINMAX(unsigned, int, unsigned)
_CUDALINT_MINMAX(unsigned, unsigned, int)
_CUDALINT_MINMAX(long, long, long)
_CUDALINT_MINMAX(long, long, int)
_CUDALINT_MINMAX(long, int, long)
_CUDALINT_MINMAX(unsigned long, unsigned long, unsigned long)
_CUDALINT_MINMAX(unsigned long, long, unsigned long)
_CUDALINT_MINMAX(unsigned long, unsigned long, long)
_CUDALINT_MINMAX(unsigned long, unsigned long, unsigned)
_CUDALINT_MINMAX(unsigned long, unsigned, unsigned long)
_CUDALINT_MINMAX(unsigned long, unsigned long, int)
_CUDALINT_MINMAX(unsigned long, int, unsigned long)
_CUDALINT_MINMAX(long long, long long, long long)
_CUDALINT_MINMAX(long long, long long, int)
_CUDALINT_MINMAX(long long, int, long long)
_CUDALINT_MINMAX(unsigned long long, unsigned long long, unsigned long long)
_CUDALINT_MINMAX(unsigned long long, long long, unsigned long long)
_CUDALINT_MINMAX(unsigned long long, unsigned long long, long long)
_CUDALINT_MINMAX(float, float, float)
_CUDALINT_MINMAX(float, float, int)
_CUDALINT_MINMAX(float, int, float)
_CUDALINT_MINMAX(double, double, double)
_CUDALINT_MINMAX(double, float, double)
_CUDALINT_MINMAX(double, double, float)
_CUDALINT_MINMAX(double, double, int)
_CUDALINT_MINMAX(double, int, double)
#undef _CUDALINT_MINMAX

extern "C" {
// Integer intrinsics.
int __clz(int);
int __clzll(long long);
int __popc(unsigned);
int __popcll(unsigned long long);
int __ffs(int);
int __ffsll(long long);
unsigned __brev(unsigned);
unsigned long long __brevll(unsigned long long);
unsigned __byte_perm(unsigned, unsigned, unsigned);
unsigned __funnelshift_l(unsigned, unsigned, unsigned);
unsigned __funnelshift_r(unsigned, unsigned, unsigned);
unsigned __funnelshift_lc(unsigned, unsigned, unsigned);
unsigned __funnelshift_rc(unsigned, unsigned, unsigned);
unsigned __fns(unsigned, unsigned, int);
int __mulhi(int, int);
unsigned __umulhi(unsigned, unsigned);
long long __mul64hi(long long, long long);
unsigned long long __umul64hi(unsigned long long, unsigned long long);
int mulhi(int, int);
unsigned umulhi(unsigned, unsigned);
unsigned __sad(int, int, unsigned);
unsigned __usad(unsigned, unsigned, unsigned);
int __hadd_s(int, int);
int __rhadd(int, int);
unsigned __uhadd(unsigned, unsigned);
unsigned __urhadd(unsigned, unsigned);
}
constexpr int __mul24(int a, int b) { return a * b; }
constexpr unsigned __umul24(unsigned a, unsigned b) { return a * b; }
constexpr int mul24(int a, int b) { return a * b; }
constexpr unsigned umul24(unsigned a, unsigned b) { return a * b; }
constexpr int __imad(int a, int b, int c) { return a * b + c; }
int __hadd(int, int);
int __dp4a(int, int, int);
unsigned __dp4a(unsigned, unsigned, unsigned);
int __dp4a(char4, char4, int);
unsigned __dp4a(uchar4, uchar4, unsigned);
int __dp2a_lo(int, int, int);
unsigned __dp2a_lo(unsigned, unsigned, unsigned);
int __dp2a_hi(int, int, int);
unsigned __dp2a_hi(unsigned, unsigned, unsigned);
constexpr unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
constexpr unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
constexpr long long llmin(long long a, long long b) { return a < b ? a : b; }
constexpr long long llmax(long long a, long long b) { return a > b ? a : b; }
constexpr unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
constexpr unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }

// Packed integer (video) instructions: unsigned in, unsigned out.
#define _CUDALINT_SIMD2(_F)                                                                                 \
    extern "C" unsigned _F##2(unsigned, unsigned);                                                          \
    extern "C" unsigned _F##4(unsigned, unsigned);
_CUDALINT_SIMD2(__vadd)
_CUDALINT_SIMD2(__vaddss)
_CUDALINT_SIMD2(__vaddus)
_CUDALINT_SIMD2(__vsub)
_CUDALINT_SIMD2(__vsubss)
_CUDALINT_SIMD2(__vsubus)
_CUDALINT_SIMD2(__vmaxs)
_CUDALINT_SIMD2(__vmaxu)
_CUDALINT_SIMD2(__vmins)
_CUDALINT_SIMD2(__vminu)
_CUDALINT_SIMD2(__vabsdiffs)
_CUDALINT_SIMD2(__vabsdiffu)
_CUDALINT_SIMD2(__vsads)
_CUDALINT_SIMD2(__vsadu)
_CUDALINT_SIMD2(__vavgs)
_CUDALINT_SIMD2(__vavgu)
_CUDALINT_SIMD2(__vcmpeq)
_CUDALINT_SIMD2(__vcmpne)
_CUDALINT_SIMD2(__vhaddu)
_CUDALINT_SIMD2(__vcmpges)
_CUDALINT_SIMD2(__vcmpgeu)
_CUDALINT_SIMD2(__vcmples)
_CUDALINT_SIMD2(__vcmpleu)
_CUDALINT_SIMD2(__vcmpgts)
_CUDALINT_SIMD2(__vcmpgtu)
_CUDALINT_SIMD2(__vcmplts)
_CUDALINT_SIMD2(__vcmpltu)
_CUDALINT_SIMD2(__vseteq)
_CUDALINT_SIMD2(__vsetne)
_CUDALINT_SIMD2(__vsetges)
_CUDALINT_SIMD2(__vsetgeu)
_CUDALINT_SIMD2(__vsetgts)
_CUDALINT_SIMD2(__vsetgtu)
_CUDALINT_SIMD2(__vsetles)
_CUDALINT_SIMD2(__vsetleu)
_CUDALINT_SIMD2(__vsetlts)
_CUDALINT_SIMD2(__vsetltu)
#undef _CUDALINT_SIMD2
extern "C" unsigned __vneg2(unsigned);
extern "C" unsigned __vneg4(unsigned);
extern "C" unsigned __vabs2(unsigned);
extern "C" unsigned __vabs4(unsigned);
extern "C" unsigned __vnegss2(unsigned);
extern "C" unsigned __vnegss4(unsigned);
extern "C" unsigned __vabsss2(unsigned);
extern "C" unsigned __vabsss4(unsigned);

// Floating-point intrinsics with a rounding mode.
#define _CUDALINT_ROUNDED(_M)                                                                               \
    extern "C" float __fadd_r##_M(float, float);                                                            \
    extern "C" float __fsub_r##_M(float, float);                                                            \
    extern "C" float __fmul_r##_M(float, float);                                                            \
    extern "C" float __fdiv_r##_M(float, float);                                                            \
    extern "C" float __fmaf_r##_M(float, float, float);                                                     \
    extern "C" float __fmaf_ieee_r##_M(float, float, float);                                                \
    extern "C" float __frcp_r##_M(float);                                                                   \
    extern "C" float __fsqrt_r##_M(float);                                                                  \
    extern "C" double __dadd_r##_M(double, double);                                                         \
    extern "C" double __dsub_r##_M(double, double);                                                         \
    extern "C" double __dmul_r##_M(double, double);                                                         \
    extern "C" double __ddiv_r##_M(double, double);                                                         \
    extern "C" double __fma_r##_M(double, double, double);                                                  \
    extern "C" double __drcp_r##_M(double);                                                                 \
    extern "C" double __dsqrt_r##_M(double);                                                                \
    extern "C" float __double2float_r##_M(double);                                                          \
    extern "C" int __float2int_r##_M(float);                                                                \
    extern "C" unsigned __float2uint_r##_M(float);                                                          \
    extern "C" long long __float2ll_r##_M(float);                                                           \
    extern "C" unsigned long long __float2ull_r##_M(float);                                                 \
    extern "C" int __double2int_r##_M(double);                                                              \
    extern "C" unsigned __double2uint_r##_M(double);                                                        \
    extern "C" long long __double2ll_r##_M(double);                                                         \
    extern "C" unsigned long long __double2ull_r##_M(double);                                               \
    extern "C" float __int2float_r##_M(int);                                                                \
    extern "C" float __uint2float_r##_M(unsigned);                                                          \
    extern "C" float __ll2float_r##_M(long long);                                                           \
    extern "C" float __ull2float_r##_M(unsigned long long);                                                 \
    extern "C" double __ll2double_r##_M(long long);                                                         \
    extern "C" double __ull2double_r##_M(unsigned long long);
_CUDALINT_ROUNDED(n)
_CUDALINT_ROUNDED(z)
_CUDALINT_ROUNDED(u)
_CUDALINT_ROUNDED(d)
#undef _CUDALINT_ROUNDED

extern "C" {
double __int2double_rn(int);
double __uint2double_rn(unsigned);
float __frsqrt_rn(float);
float __fdividef(float, float);
float __saturatef(float);
float __sinf(float);
float __cosf(float);
float __tanf(float);
float __tanhf(float);
float __expf(float);
float __exp10f(float);
float __exp2f(float);
float __logf(float);
float __log2f(float);
float __log10f(float);
float __powf(float, float);
float __fabsf(float);
void __sincosf(float, float*, float*);
float __int_as_float(int);
int __float_as_int(float);
float __uint_as_float(unsigned);
unsigned __float_as_uint(float);
double __longlong_as_double(long long);
long long __double_as_longlong(double);
int __double2loint(double);
int __double2hiint(double);
double __hiloint2double(int, int);
}
float saturate(float);
int float2int(float, int mode = 0);
