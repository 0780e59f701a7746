"""Pieces of code at the edges of what a size, a literal, a type, a macro or a statement can be, for `mutating.py`.

In forms, `@` is a number and `#` an expression; in what begins with `AROUND`, `@` is what stood there.
"""

from __future__ import annotations

from typing import Final

EXTENTS: Final = (
    *rb"""
0 -1 1 31 33 1025 -2147483648 2147483647 2147483648 4294967295 4294967296 9223372036854775807 9223372036854775808u
18446744073709551615ull ~0ull (char)200 0.5 -0.0f nullptr true '\0' "x" 1024 65536 9223372036854775808
18446744073709551615 340282366920938463463374607431768211455 1e30 1e-320 1e400 0.0 0x7fffffff 08 (__int128)1e30 'a'
1e999 -1e999 INT_MIN NAN INFINITY FLT_MAX N warpSize gridDim.x sizeof(float[0])
""".split(),
    *rb"""
-9223372036854775807LL - 1
1 << 31
1 << 32
1ull << 63
-1 >> 1
1 / 0
0 % 0
-1 % -1
1e308 * 10
sizeof(int) - 5
(1 << 31)
(1 / 0)
(1 % 0)
(-1 >> 1)
(1ull << 63)
0.0 / 0
""".strip().split(b"\n"),
    b"",
)  # fmt: skip
"""What a size, a count or a step is set to."""
LITERALS: Final = (
    *rb"""
1e99999 1e-99999 0x1.fffffffffffffp+9999 0x.p1 1.5e 0xg 089 1'000'000 'abcd' 'abcdefghij' '' U'\U0010ffff' 1_km
1ullull 0x8000000000000000 -0x8000000000000000 170141183460469231731687303715884105728 1.f.f "\x" "\777" 0x1p-1074
1e999f nan 0.f/0 1e+ 0x1p '\xfffffffff' u8R"()" 0b 1.0h 1.bf16
""".split(),
    *rb"""
"" "" ""
""".strip().split(b"\n"),
    b"u8'\xc3\xbc'", b'R"(' + b')" ' * 50,
    b"9" * 400, b"0x" + b"f" * 300, b"0b" + b"1" * 200, b"0" * 5_000 + b"7", b"1" * 5_000,
    b'L"' + b"w" * 70_000 + b'"', b'"' + b"\\\\" * 20_000 + b'"',
)  # fmt: skip
TYPES: Final = (
    *rb"""
void bool char __int128 _Float16 half half2 __nv_bfloat16 double4 longlong4 uchar3 auto decltype(nullptr)
Outer<int>::type int[0] size_t _BitInt(200) dim3 cudaTextureObject_t std::vector<float> T... _Complex decltype(auto)
cuda::barrier<cuda::thread_scope_block> cooperative_groups::thread_block std::function<void(int)>
""".split(),
    *rb"""
signed char
long double
unsigned __int128
int *
int **
int &
int &&
struct Unknown
struct {}
union { int a; double b; char c[0]; }
enum : char {}
typename T::value
volatile float
const int * __restrict__
float (*)[0]
struct { T x[3]; } *
unsigned short &
int (&)[N]
float __attribute__((vector_size(64)))
cuda::std::array<int, 0>
nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, 16, half, nvcuda::wmma::row_major>
long long unsigned int const volatile
alignas(64) char
__half2 *__restrict__
bool *
double **
void *
__shared__ int
__constant__ float
int __attribute__((address_space(3))) *
""".strip().split(b"\n"),
)
REDEFINITIONS: Final = (
    *rb"""
int return else const class template typename sizeof __global__ __shared__ __syncthreads() N BLOCK_SIZE max defined
this std asm operator __launch_bounds__(...)
""".split(),
    *rb"""
int short
float double
float char
double struct Undefined
if while
if(x) if (!(x))
for while
for(x) for (x) for (x)
return goto out;
else ; else
void int
struct union
unsigned -
sizeof(x) 0
true 0
while if
__global__ __device__
__global__ static inline
__device__ __global__
__shared__ extern __shared__
__shared__ static
__restrict__ *
__syncthreads() }
__syncthreads() return
__syncthreads __syncwarp
threadIdx blockIdx
threadIdx threadIdx.x
x y
x 0
x (x + x)
i j
i i + i
n (n / 0)
N -1
N N
BLOCK_SIZE 0
TILE_DIM -1
blockDim dim3(0, -1, 1)
blockDim gridDim
warpSize 0
dim3 int
float4 float
min(a, b) min(min(a, b), b)
sqrtf(x) sqrtf
__ldg(p) p
atomicAdd(p, v) (*(p) += (v))
assert(x) x
include error
__CUDA_ARCH__ 0
__CUDA_ARCH__ -1
__CUDACC__ 0
NULL #
f(x) #x
f(...) __VA_ARGS__ ## __VA_ARGS__
main __global__
namespace struct
__launch_bounds__(...) __launch_bounds__(0, -1)
__align__(x) alignas(0)
""".strip().split(b"\n"),
)
"""Macros that change what the rest of a text means."""
STATEMENTS: Final = (
    *rb"""
__shared__ float z[0]; z[threadIdx.x] = 0;
__shared__ float z[-1]; z[0] = 1;
extern __shared__ int z[]; z[-threadIdx.x] = 1;
__shared__ char z[1 << 30]; z[threadIdx.x << 25] = 1;
__shared__ struct { int a[0]; } z[4]; z[threadIdx.x] = z[0];
for (int j = 0; j < 10; j += 0) z[j] = 0;
for (unsigned j = 10; j >= 0; j--) ;
for (int j = 0; j < 2147483647; j *= 2) __syncthreads();
for (long long j = 1; j; j <<= 1) if (threadIdx.x & j) __syncthreads();
for (float f = 0; f < 1; f += 1e-30f) ;
for (int j = threadIdx.x; j != blockDim.x; j -= -3) ;
for (char c = 0; c < 1000; c++) __syncwarp();
int *z = (int *)0; z[threadIdx.x] = *z;
int *z = (int *)(size_t)threadIdx.x; *z = 1;
float *z = &((float *)0)[-1ll << 60]; z[threadIdx.x] = 1;
char *z = (char *)-1; *(double *)(z + threadIdx.x) = 1;
int z[0]; z[threadIdx.x] = z[-1];
int z[1 << 20][1 << 20]; z[threadIdx.x][0] = 1;
double z[2] = {1, 2, 3}; z[9] = z[threadIdx.x];
float (*z)[0] = 0; z[threadIdx.x][1] = 1;
struct z; z *y = 0; y[threadIdx.x];
int z = __shfl_sync(0, threadIdx.x, -1, 0);
int z = __shfl_xor_sync(0xffffffff, 1, 64, 33);
int z = __shfl_down_sync(~0u, n, 1ull << 40);
__syncwarp(0);
__syncwarp(threadIdx.x);
if (threadIdx.x / 0) __syncthreads();
__syncthreads_count(1 / 0);
__barrier_sync(99);
asm volatile("bar.sync %0, %1;" :: "r"(-1), "r"(0));
asm("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a) : "r"(0));
asm("cp.async.cg.shared.global [%0], [%1], 17;" :: "r"(0), "l"(0));
asm("" : "+r"(p));
asm("{ .reg .u32 a; mov.u32 a, ; }");
asm("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0}, [%1];" : "=r"(z) : "r"(-8));
asm("mma.sync.aligned.m0n0k0.row.col.f32 ;");
atomicAdd((int *)0, 1);
atomicCAS(&threadIdx.x, 0, 0);
atomicAdd(&p[threadIdx.x % 0], 1);
*p++ = *--p;
p = p + (1ull << 63);
p[threadIdx.x * 9223372036854775807LL] = 1;
p[-threadIdx.x * 4294967296ull] = 1;
p[(int)1e30f + threadIdx.x] = 1;
p[threadIdx.x / (n - n)] = 1;
p[threadIdx.x % (n & 0)] = 1;
p[1 << threadIdx.x] = 1;
p[threadIdx.x >> 64] = 1;
p[~threadIdx.x << 31] = 1;
p[n == n ? threadIdx.x : 1 / 0] = 1;
p[threadIdx.x ^ -1ll] = p[threadIdx.y * 0.5f];
p[__brev(threadIdx.x)] = __clzll(0);
p[__ffs(0) - 1] = 1;
p[__popc(-1) << 31] = 1;
p[(unsigned char)(threadIdx.x * 9)] = 1;
p[(__int128)threadIdx.x << 100] = 1;
p[threadIdx.x, blockIdx.x] = 1;
(&p[1])[-1] = (1, 2, p)[0];
return; p[0] = 1;
goto z; z: goto z;
z: if (threadIdx.x) goto z;
switch (n) { default: default: case 0 ... 9: p[0] = 1; }
break; continue;
auto z = [=](auto... y) mutable { return z(y...); };
[[likely]] if (n) [[fallthrough]];
this->x[threadIdx.x] = 1;
new float[n]; delete[] p;
printf("%s%n", p, p); assert(0);
__trap(); __builtin_unreachable();
kernel<<<1, 1>>>(p);
k<<<n, -1, 1ull << 60, p>>>(p, p, p);
memcpy(p, p + threadIdx.x, -1);
static __shared__ float z; z += 1;
__constant__ int z[9]; z[threadIdx.x] = 1;
const volatile int *z = p; *z;
float4 z = *(float4 *)&p[threadIdx.x * 3 + 1];
reinterpret_cast<float4 (&)[0]>(p[0])[threadIdx.x] = {};
typedef int z[-threadIdx.x]; z y;
cg::thread_block_tile<0> z; z.sync();
cooperative_groups::this_grid().sync();
wmma::fragment<wmma::accumulator, 0, -1, 16, float> z; wmma::store_matrix_sync(p, z, 0, wmma::mem_row_major);
tex2D<float>(0, n, n); surf2Dwrite(1, 0, 0, 0);
template <int N> struct z { z<N + 1> y; }; z<0> y;
while (atomicCAS(&p[0], 0, 1)) ;
do ; while (threadIdx.x);
""".strip().split(b"\n"),
)
"""Statements at the edges of what kernels do."""
DECLARATIONS: Final = (
    *rb"""
template <int N> struct R { static const int v = R<N - 1>::v + 1; }; __device__ int r = R<100000>::v;
template <int N> __global__ void deep(float *p) { p[threadIdx.x * N] = 1; deep<N + 1><<<1, 1>>>(p); }
template <typename... T> __global__ void many(T *...p) { ((p[threadIdx.x * 32] = 1), ...); }
__global__ void empty() {}
__global__ void proto(float *p);
__global__ int wrong(float p) { return p; }
__global__ void nothing(float *p) { if (0) p[0] = 1; }
__global__ __launch_bounds__(0) void zero(int *p) { p[threadIdx.x] = 1; }
__global__ __launch_bounds__(-1, 1 << 30) void minus(int *p) { p[threadIdx.x * 32] = 1; }
struct S { int a : 0; int b[]; };
__global__ void loop(float *p) { loop(p); }
__device__ void a(int *); __device__ void b(int *p) { a(p); } __device__ void a(int *p) { b(p); a(p + 1); }
struct alignas(1 << 28) Wide { char c; }; __global__ void wide(Wide *p) { p[threadIdx.x].c = 1; }
struct E {}; __global__ void none(E *p) { p[threadIdx.x] = E(); }
__shared__ float outside[32];
__constant__ float table[1ull << 40]; __global__ void c(float *p) { *p = table[threadIdx.x << 40]; }
typedef float many[1 << 30][1 << 30];
class C { __global__ void member(float *p) { p[threadIdx.x * 2] = 1; } };
namespace { namespace { __global__ void hidden(int *p) { p[threadIdx.x * 8] = 0; } } }
using namespace nowhere;
__global__ void big(struct { char c[1 << 20]; } x, float *p) { p[threadIdx.x] = x.c[threadIdx.x]; }
int main(int argc, char **argv) { int n = atoi(argv[1]); k<<<n, n>>>(0); return main(argc, argv); }
__managed__ int m; __global__ void mm() { m[threadIdx.x] = 1; }
__global__ void \u00e9(float *p) { p[threadIdx.x * 32] = 1; }
union U { float f[4]; struct { int i; } s; }; __global__ void u(U *p) { p[threadIdx.x].f[threadIdx.x % 5] = p->s.i; }
static_assert(1 / 0, "\x1b");
template <auto> concept c = c<0>;
constexpr int f(int n) { return n ? f(n - 1) + f(n - 1) : 1; } __device__ int g = f(60);
__global__ void p3(float ***p) { p[threadIdx.x][threadIdx.y][threadIdx.z * 32] = ***p; }
""".strip().split(b"\n"),
    b'extern "C" __global__ void \xc3\xbcber(float *p) { p[threadIdx.x * 32] = 1; }',
    b"#define X0 +1\n"
    + b"".join(b"#define X%d X%d X%d X%d X%d\n" % (n + 1, n, n, n, n) for n in range(6))
    + b"int x = 0 X6;",
)  # fmt: skip
DIRECTIVES: Final = (
    *rb"""
#ifdef #else #endif #define #error # _Pragma("once") _Pragma("unroll
""".split(),
    *rb"""
#line 0
#line 2147483648 "x"
#line -1
#line 1 "/etc/passwd"
#line 7 "\x1b[31m"
# 1 "a" 1 3
#include __FILE__
#include ".."
#include <.>
#include "\"
#include_next <cuda_runtime.h>
#import <math.h>
#if 1 / 0
#if 0x
#if (
#if 9223372036854775807 + 1 > 0
#if defined
#elif 1
#undef __CUDACC__
#undef threadIdx
#define 1 2
#define a(a, a) a
#define __VA_ARGS__
#pragma once
#pragma unroll -1
#pragma unroll 99999999999999999999
#pragma unroll n
#pragma pack(push, 0)
#pragma pack(1)
#pragma nv_diag_suppress x
#pragma omp parallel for
#pragma GCC poison int
#pragma push_macro("int")
#pragma clang attribute push(__attribute__((device)), apply_to = function)
#embed <x>
#warning ::error::x
#pragma clang __debug crash
#pragma clang __debug parser_crash
#pragma clang __debug overflow_stack
#pragma clang __debug llvm_fatal_error
#pragma clang __debug assert
#pragma clang __debug handle_crash
#pragma clang module import x
#pragma comment(lib, "x")
#pragma clang max_tokens_total 1
#pragma STDC FENV_ACCESS ON
#pragma clang include_alias("a", "b")
""".strip().split(b"\n"),
    b"#define A A A\nA A", b"#\\",
)  # fmt: skip
ANNOTATIONS: Final = (
    *rb"""
launch(block = -1)
launch(block = 1 / 0)
launch(block = 99999999999999999999)
launch(block = (0, 0, 0), grid = 2**64)
launch(grid = n, block = n)
launch(shared = -1)
assume(n % 0 == 0)
assume(n ** n ** n)
assume(9 ** 9 ** 9 == n)
assume(n == n.n)
assume(1 << 99999999 == n)
ignore[
allow[CL101]
launch
param(n = -1)
assume(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((
""".strip().split(b"\n"),
)
UNENDED: Final = (
    *rb"""
/* " ' R"delimiter( R"( L' ( { [ <<< [[ __attribute__(( asm(" <% ??< reinterpret_cast< decltype( operator
""".split(),
    *rb"""
template <
namespace a {
struct s {
enum {
asm volatile("mov.u32 %0, %%tid.x;" : "=r"(
extern "C" {
do {
switch (threadIdx.x) { case
__shared__ float tile[
for (int i = 0; i <
if constexpr (
auto f = [&
requires (
""".strip().split(b"\n"),
    b"\n#if 0\n", b"\n#if 1\n#else\n", b"\n#ifdef A\n#elif\n", b"\n#define A(x, ", b"\n#pragma unroll (",
    b'\n#include "', b"\n#include <", b"\n#line", b"//\\", b"\\", b"sizeof ", b"\n#if defined(", b"\n#if (",
    b"\n#if __has_include(",
)  # fmt: skip
WORDS: Final = (
    *rb"""
__shared__ __global__ __device__ __syncthreads(); threadIdx.x blockIdx.y blockDim.z typename struct union if do
return; const static extern double char bool void half float4 __int128 [0] [] [-1] { } ( ) < > <<< >>> ; * / % << & &&
... :: -> /* */ " ' R"( sizeof(*this)
""".split(),
    *rb"""
template <
if constexpr (0)
for (;;)
while (1)
switch (0)
goto x;
unsigned long long
[1 << 30]
asm volatile("");
asm("mov.u32 %0, %laneid;" : "=r"(x));
foo::bar x;
atomicAdd(&x, 1);
__shfl_sync(0, 0, 0);
""".strip().split(b"\n"),
    b"#if 1\n", b"\n#if 0\n", b"\n#endif\n", b"\n#define A(x) x\n", b"\n#undef A\n",
    b'\n#line 9999999 "elsewhere.cu"\n', b"\n#pragma unroll 0\n", b"\n#pragma unroll\n", b"\n#include __FILE__\n",
    b"\n#error ::error::\n", b"\\\n", b"??/\n", b"// cudalint: launch(block = 7)\n",
    b"// cudalint: launch(block = 0, grid = -1)\n", b"// cudalint: assume(n == 0)\n",
    b"// cudalint: assume(n % 0 == 1)\n", b"// cudalint: ignore[CL101]\n", b"// cudalint: ignore\n",
)  # fmt: skip
"""Words of the language at places where they may not belong."""
LETTERS: Final = (
    b"\xff\xfe", b"\xef\xbb\xbf", b"\x00", b"\r", b"\r\r", b"\t", b"\x0c", b"\x0b", b"\x1b[31m", b"\x1b]0;title\x07",
    b"\x7f", b"\x85", b"\xe2\x80\xa8", b"\xe2\x80\xae", b"\xe2\x81\xa6", b"\xf0\x9f\x98\x80", b"\xed\xa0\x80",
    b"\xc3(", b"\x1a", b"\x04", b"\xfe\xff", b"\xc0\x80", b"\xff\xfe\x00\x00",
)  # fmt: skip
"""Control characters, marks that turn text around, escape sequences, and bytes that are no UTF-8."""
INCLUDED: Final = (
    *rb"""
/dev/zero /dev/stdin /proc/self/mem /proc/self/environ /etc/passwd .. . / m000.cu -MD @x ::error::.h cuda_runtime.h
cooperative_groups.h torch/extension.h m001.cu m002.cuh m003.cu cudalint.toml cuda/barrier thrust/device_vector.h
mma.h a\\b.h m000.cu/../m000.cu %s%n
""".split(),
    b"", b"a\x1b[31m.h",
)  # fmt: skip
NAMES: Final = (
    *rb"""
int __global__ CL101 threadIdx threadIdx.x x::y ~x main __COUNTER__ __LINE__ __FILE__ x.y 0 x[0] *x (x) $ _ operator()
\u00e9 \N{LATIN} kernel this T std::move dim3 blockDim __shared__ auto true NULL size_t float4 cg::this_grid() errno
_Z1kPf
""".split(),
    b"\xc3\xbc", "\u202e".encode(), b"a" * 20_000, b"\xef\xbc\xa1", b"\xff", b"\xf0\x9d\x94\xa8",
)  # fmt: skip
"""What a name becomes, wherever it stands."""
LEAVES: Final = (
    *rb"""
threadIdx.x threadIdx.y blockIdx.x blockIdx.z blockDim.x gridDim.y n N i p p[0] *p p[threadIdx.x] this tile T{}
clock64() &p[n] (int*)p sizeof(n) "x" 'x' 1.5f (char)n warpSize nullptr {} [](int){return(1);}(2)
tile[threadIdx.y][threadIdx.x]
""".split(),
)
OPERATIONS: Final = (
    *rb"""
(@ + #)
(@ - #)
@ * #
(@ / #)
(@ % #)
(@ << #)
(@ >> #)
(@ & #)
(@ ^ ~#)
(@ < # ? # : @)
(@ && #)
(@, #)
(@ = #)
(@ += #)
(@ /= #)
(@ <<= #)
@[#]
(@)[#]
*(@ + #)
(char)(@ * #)
(unsigned long long)@ * (short)#
(@ == # || # != @)
-@ - -#
!@ + !#
(@ <=> #)
++@ + #--
@.x + #->y
min(@, #)
float(@) * #
dim3(@, #).y
static_cast<signed char>(@) >> #
reinterpret_cast<float4 *>(@)[#].w
__float_as_int(@) % #
""".strip().split(b"\n"),
)
"""Of two operands, `@` and `#`."""
PTX: Final = (
    *rb"""
ld st atom red ldmatrix stmatrix cp ldu multimem wgmma tcgen05 mov cvt cvta add sub mul mad and or xor shl shr shfl
vote redux match bar barrier setp selp mbarrier fence membar griddepcontrol prefetch isspacep mapa elect exit trap ret
bra call @p @!p lop3 prmt dp4a mma createpolicy discard applypriority tensormap clusterlaunchcontrol
nanosleep L1:
""".split(),
    b"{ .reg .b32 q;", b"@%p0 bra", b"",
)  # fmt: skip
MODIFIERS: Final = (
    *rb"""
global shared shared::cta shared::cluster local const param u8 s16 u32 s32 b32 u64 b64 b128 f16x2 f32 f64 v2 v4 v8 v0
x1 x2 x4 sync aligned async bulk tensor commit_group wait_group wait_all mbarrier arrive expect_tx try_wait test_wait
cta gpu sys relaxed acquire release volatile nc L1::no_allocate idx up down bfly all any ballot add min max exch cas
inc warp red popc m8n8 m16n8k16 row col trans cg ca lo hi wide to rn rz sat eq lt hs cluster init inval mma_async ld
alloc 1d 5d im2col
""".split(),
)
PTX_OPERANDS: Final = (
    *rb"""
%0 %1 %2 %9 %99999999999 %%tid.x %%laneid %%r0 q _ 0 -1 0x1f 0xffffffffffffffffffff 4294967296 1.5 0f3f800000 [%0]
[%1+16] [%1+-99999999999999999999] [] [%0,{%1,%2}] {%0,%1,%2,%3} {} {%0 %l0 %h2 % %%
""".split(),
)
AROUND_OPERANDS: Final = (
    *rb"""
(@)
-(@)
~@
!@
*&@
&*(@)
(int)(@)
(float)(@)
(char *)(@)
((float4 *)(@))[0]
(@ ? @ : 0)
(1 ? @ : OPERAND)
(@, OPERAND)
(OPERAND, @)
p[@]
p[p[@]]
(@)[p]
BUILTIN(@)
BUILTIN(@, @)
BUILTIN(OPERAND, @)
BUILTIN(@, OPERAND, @, @)
BUILTIN(&@, OPERAND)
BUILTIN(0xffffffff, @, OPERAND, 32)
[&] { return @; }()
[=](auto x) { return x + @; }(@)
({ int y = @; y; })
(@ + OPERAND)
(OPERAND - (@))
(@ * OPERAND)
(OPERAND << (@))
(@ / OPERAND)
(@ % OPERAND)
(@ && OPERAND)
(OPERAND < @)
T<@>::value
dim3(@, @, @).z
int{@}
sizeof(@)
decltype(@)(@)
std::get<0>(std::make_tuple(@))
std::min<int>(@, OPERAND)
(x = @)
(n += @)
(@)++
__builtin_expect(@, OPERAND)
__builtin_constant_p(@)
f(f(f(@)))
@ ? @ : @
@ <=> @
new int[@]
throw @
co_await @
{@}
{@, @}
&@
@...
""".strip().split(b"\n"),
)
AROUND_STATEMENTS: Final = (
    *rb"""
{ @ }
if (OPERAND) { @ }
if (threadIdx.x == OPERAND) { @ } else { @ }
if (threadIdx.x > 1) @ else ;
if constexpr (OPERAND) { @ }
for (int j = 0; j < OPERAND; j++) { @ }
for (int j = threadIdx.x; j < OPERAND; j += OPERAND) { @ }
for (auto j : {1, 2, 3}) { @ }
for (long long j = 1; j < 1ll << 40; j *= 2) { @ }
for (;;) { @ break; }
while (n) { @ n--; }
while (OPERAND) { @ }
do { @ } while (OPERAND);
do { @ if (p[0]) continue; break; } while (1);
switch (OPERAND) { case 0: @ case 1: @ default: break; }
switch (threadIdx.x) { @ }
[&] { @ }();
auto f = [=](int n) mutable { @ return n; }; f(f(OPERAND));
auto g = [&](auto &&self, int d) -> void { if (d) self(self, d - 1); @ }; g(g, 4);
{ __shared__ float tile[32]; @ __syncthreads(); }
__syncthreads(); @ __syncthreads();
if (threadIdx.x & 1) return; @
try { @ } catch (...) { @ }
namespace a { @ }
struct s { @ };
struct s { __device__ void m() { @ } int x; } v; v.m();
union { float f; int i; }; @
extern "C" { @ }
template <typename T> @
template <int N = 0> struct t { @ };
label: @ goto label;
goto later; @ later: ;
const @
static @
__shared__ @
__device__ @
extern @
constexpr @
typedef @
using namespace std; @
#pragma unroll OPERAND
asm(""); @ asm("");
static_assert(OPERAND); @
auto operator()() { @ }
@ @
@ return;
return @
""".strip().split(b"\n"),
    b"\n#if 1\n@\n#endif\n", b"\n#ifdef A\n#else\n@\n#endif\n", b"\n#if 0\n@\n#elif OPERAND\n@\n#endif\n",
    b"\n#pragma unroll OPERAND\n@", b"\n#pragma unroll\nfor (int u = 0; u < 4; u++) { @ }",
    b"\n#pragma pack(push, 1)\n@\n",
    b"\n#define B(...) __VA_ARGS__\nB(B(@))\n", b"/* @ */", b"// \\\n@\n",
    b'\n#line 1 "m000.cu"\n@', b"\n// cudalint: allow\n@",
)  # fmt: skip
AROUND_FUNCTIONS: Final = (
    *rb"""
template <typename T> @
template <int N> @
template <typename... T> @
template <template <typename> class T, auto N = 3> @
struct S { @ };
template <typename T> struct S { @ }; template struct S<S<float>>;
namespace { @ }
namespace a { namespace b { @ } } using namespace a;
extern "C" { @ }
static inline @
__host__ @
__device__ @
__launch_bounds__(OPERAND) @
__launch_bounds__(OPERAND, OPERAND, OPERAND) @
__cluster_dims__(OPERAND) @
[[maybe_unused]] __attribute__((global)) @
void host() { @ }
int main() { @ }
@ @
template <> @
requires true @
constexpr @
friend @
#define @
void (*f)() = [] { @ };
__global__ @
""".strip().split(b"\n"),
    b"\n#if __CUDA_ARCH__ >= 900\n@\n#endif\n", b"\n#ifndef GUARD\n#define GUARD\n@\n#endif\n#include __FILE__\n",
)  # fmt: skip
CALLS: Final = (
    *rb"""
KERNEL(HANDED);
KERNEL<<<@, @>>>(HANDED);
KERNEL<<<#, #, #>>>(HANDED);
KERNEL<<<dim3(@, @, @), dim3(#, @)>>>(HANDED, HANDED);
KERNEL<@><<<@, @>>>(HANDED);
KERNEL<N + 1>(HANDED);
KERNEL<int, @><<<@, @, @, 0>>>(0, 0);
if (n > 0) KERNEL(HANDED);
return KERNEL(HANDED), KERNEL(HANDED);
for (int i = 0; i < @; i += @) KERNEL<<<i, i * @>>>(i, 0);
for (int i = @; i != @; i--) KERNEL<<<1 << i, @>>>(HANDED);
cudaLaunchKernel((void *)KERNEL, @, @, 0, @, 0);
void *a[] = {&n, &p}; cudaLaunchKernel(KERNEL, dim3(#), dim3(@, #), a, @);
cudaLaunchConfig_t c = {@, @, @}; cudaLaunchKernelEx(&c, KERNEL, #, #);
int b = @; while (b < @) b *= 2; KERNEL<<<b, b>>>(0);
if (#) KERNEL<<<@ / @, 1>>>(0);
dim3 b(@, @), g(@); b.x *= @; KERNEL<<<g, b, @>>>(0);
KERNEL<<<# ? @ : @, 32>>>(@, @);
auto k = KERNEL; k<<<@, @>>>(HANDED);
auto l = [&](auto f, int n) { f<<<n, @>>>(#); }; l(KERNEL, @);
float *d; cudaMalloc(&d, #); cudaMemset(d, @, #); KERNEL<<<@, 256>>>(d, #, #, #); cudaFree(d);
std::vector<int> v(@); for (auto n : v) KERNEL<<<v.size(), n>>>(&v[@]);
int n = atoi(argv[@]); if (n % @) exit(1); KERNEL<<<(n + @) / @, @>>>(n);
cudaFuncSetAttribute(KERNEL, cudaFuncAttributeMaxDynamicSharedMemorySize, #); KERNEL<<<@, @, #>>>(HANDED);
static int depth; if (depth++ < @) host_of_it(); KERNEL<<<depth, depth>>>(HANDED);
KERNEL<<<1, 32>>>(HANDED); cudaMemcpyAsync(0, 0, #, cudaMemcpyDeviceToHost); KERNEL<<<1, 32>>>(HANDED);
""".strip().split(b"\n"),
)
"""Of a kernel, `KERNEL`, with the names of its parameters as `HANDED`; as host code, or in the kernel itself."""
MACROS: Final = (
    (b"M1", b"#define M1 @"), (b"M1(n)", b"#define M1(n) @"), (b"M1(M1(0))", b"#define M1(x) x @"),
    (b"M1()", b"#define M1(...) __VA_OPT__(,) __VA_ARGS__ @"), (b"M1", b"#ifdef M1\n#define M1 @\n#endif"),
    (b"M2", b"#define M1 M2\n#define M2 M1 @"), (b"M1(a, b)", b"#define M1(a, b) a##b @"),
    (b"M1", b"#define M1 _Pragma(\"unroll\") @"), (b"M1(,)", b"#define M1(x, y) #x @"),
)  # fmt: skip
"""Uses, and definitions with what stood there as `@`."""
LINE_ENDS: Final = (
    (b"\r\n",), (b"\r",), (b"\r\n", b"\n"), (b"\r", b"\n", b"\r\n"), (b"\n\r",), (b"\x0b",), (b"\x0c\n",),
    (b"\xe2\x80\xa8",), (b"\\\n",), (b"\n\n",), (b"\n", b"\x85", b"\n"),
)  # fmt: skip


# --- what stands beside a source, or around it ---------------------------------------------------------------

PYTHON: Final = tuple(
    rb"""
import cupy as cp
k = cp.RawKernel(TEXT, 'NAME')
k((@,), (@, @), (#, cp.int32(@)))
----
import cupy
m = cupy.RawModule(code=TEXT, options=('-DN=@', '-std=c++99'), name_expressions=['NAME<@>', 'x'])
m.get_function('NAME')((@, @, @), (@,), (x,), shared_mem=@)
----
from pycuda.compiler import SourceModule
N = @
m = SourceModule(TEXT % {'N': N}, options=['-I', '..'])
f = m.get_function('NAME')
f(x, block=(N, @, 1), grid=(N // @, -@), shared=N ** 9)
f.prepare('Pi').prepared_call((@, N << @), (N % @, 1), x, @)
----
from torch.utils.cpp_extension import load_inline
m = load_inline('x', '', cuda_sources=[TEXT, TEXT], functions=['NAME'])
----
from cuda.core.experimental import Program, LaunchConfig, launch
p = Program(TEXT, code_type='c++').compile('cubin', name_expressions=('NAME<@>',))
launch(s, LaunchConfig(grid=@, block=(@, @)), p.get_kernel('NAME'), x, @)
----
import cupy
k = cupy.ElementwiseKernel('T x, raw float32 y, int32 @', 'T z', 'z = x * y[#]', 'NAME', preamble=TEXT)
k(x, y, @, size=@)
----
import cupy
k = cupy.ReductionKernel('T x', 'T y', '#', 'a + b', 'y = a / @', '@', 'NAME')
c = cupy.RawKernel(TEXT, 'NAME')
c((len(x) // @ + 1,), (min(@, 1024),), (x, None, True, @))
----
import cupy
for n in range(@):
    c = TEXT.replace('n', str(n)).format(n, *n, **n)
    cupy.RawKernel(c + c * @, f'NAME{n}')((n,), (n,), ())
----
import cupy
def f(x): return g(x)
def g(x): return f(x)
S = TEXT
S += S
cupy.RawKernel(f(S), 'NAME')((f(@),), (g(@),), (S,))
----
class K:
 c = (TEXT
   '\x7d' "\N{DIGIT ONE}" u'\ud800')
import cupy
cupy.RawModule(K.c).get_function('NAME')((1,) * @, (1 << @,), ())
""".strip().split(b"\n----\n")
)
"""Files with the CUDA as `TEXT` and a kernel's name as `NAME`."""
CODINGS: Final = (b"", b"", b"", b"# -*- coding: latin-1 -*-\n", b"# coding: utf-16\n", b"# coding: rot13\n")
"""What a Python file begins with."""
PATTERNS: Final = (
    "*", "m*.cu", "**", "m00[1-3].cu", "[", "!*", "../x", "/", "\\", "k?", "CL1", "ALL", "bank-conflict", "CL",
    "N=1", "N(x)=x",
    "n % 4 == 0", "n < n", "a.b", "sm_90a", "c++17", "gnu++20", "block", "include", "dim3(8, 8)", "1e999",
    "\u00fc", "x" * 2_000,
)  # fmt: skip
"""Texts of configurations: patterns, rules, macros, conditions."""
SURROUNDINGS: Final[dict[str, bytes]] = {
    "compile_commands.json": b"""[{"directory": ".", "file": "m000.cu",
  "command": "nvcc -I include -isystem /usr/include -DN=32 -std=c++17 -arch=sm_80 -include x.h m000.cu"},
 {"directory": "/", "file": "m001.cu",
  "arguments": ["nvcc", "-D", "M=1", "@options.txt", "--options-file", "x", "-Xcompiler", "-O2,-DX"]}]
""",
    "Makefile": b"""N ?= 32
FLAGS := -arch=sm_80 -DN=$(N) -I.. $(shell touch written)
main: m000.cu
\tnvcc $(FLAGS) -o $@ $<
run: main
\t./main 1024 $(N) > out
""",
    "CMakeLists.txt": b"""set(CMAKE_CUDA_ARCHITECTURES 75 86-real)
set(N ${N}32) file(WRITE written 1) execute_process(COMMAND touch written)
add_executable(main m000.cu ${N}.cu $<TARGET_OBJECTS:main>)
target_compile_definitions(main PRIVATE N=${N} -DM)
target_include_directories(main PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/..)
if(N) foreach(x IN LISTS N) include(CMakeLists.txt) endforeach() endif()
""",
    "setup.py": b"""from torch.utils.cpp_extension import CUDAExtension
N = [f'-DN={i}' for i in range(3)] + open('/proc/self/mem').read()
args = {'nvcc': N + ['-arch=sm_80']}
setup(ext_modules=[CUDAExtension('x', ['m000.cu'], include_dirs=['..', *N], extra_compile_args=args)])
""",
    "cudalint.toml": b"""target = "h100"
include-dirs = ["include", "../.."]
defines = ["N=32"]
std = "c++17"
exclude = ["x/**"]
assume = ["n % 4 == 0"]
[kernels."*"]
block = [32, "8"]
grid = 7
[kernels."*".parameters]
n = 1024
[per-file-ignores]
"m00[1-3].cu" = ["CL101"]
""",
    "baseline.json": b'{"schema": 1, "findings": [{"path": "m000.cu", "code": "CL101", "line": 1e999, "count": -1}]}\n',
    ".gitignore": b"*.o\nbuild/\n!m*.cu\n",
}
"""Files that say how a program is built and linted."""
