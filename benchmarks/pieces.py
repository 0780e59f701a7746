"""Pieces of code at the edges of what a size, a literal, a type, a macro or a statement can be, for `structural.py`."""

from __future__ import annotations

EXTENTS = (
    b"0",
    b"-1",
    b"1",
    b"31",
    b"33",
    b"1025",
    b"-2147483648",
    b"2147483647",
    b"2147483648",
    b"4294967295",
    b"4294967296",
    b"9223372036854775807",
    b"9223372036854775808u",
    b"-9223372036854775807LL - 1",
    b"18446744073709551615ull",
    b"1 << 31",
    b"1 << 32",
    b"1ull << 63",
    b"-1 >> 1",
    b"~0ull",
    b"1 / 0",
    b"0 % 0",
    b"-1 % -1",
    b"(char)200",
    b"0.5",
    b"-0.0f",
    b"1e308 * 10",
    b"sizeof(int) - 5",
    b"nullptr",
    b"true",
    b"'\\0'",
    b'"x"',
    b"",
)
"""What a size, a count or a step is set to."""
LITERALS = (
    b"9" * 400,
    b"0x" + b"f" * 300,
    b"0b" + b"1" * 200,
    b"0" * 5_000 + b"7",
    b"1" * 5_000,
    b"1e99999",
    b"1e-99999",
    b"0x1.fffffffffffffp+9999",
    b"0x.p1",
    b"1.5e",
    b"0xg",
    b"089",
    b"1'000'000",
    b"'abcd'",
    b"'abcdefghij'",
    b"''",
    b"U'\\U0010ffff'",
    b"u8'\xc3\xbc'",
    b'L"' + b"w" * 70_000 + b'"',
    b'R"(' + b')" ' * 50,
    b"1_km",
    b"1ullull",
    b"0x8000000000000000",
    b"-0x8000000000000000",
    b"170141183460469231731687303715884105728",
    b"1.f.f",
    b'"\\x"',
    b'"\\777"',
    b'"' + b"\\\\" * 20_000 + b'"',
)
TYPES = (
    *rb"""
void
bool
char
signed char
long double
__int128
unsigned __int128
_Float16
half
half2
__nv_bfloat16
double4
longlong4
uchar3
int *
int **
int &
int &&
auto
decltype(nullptr)
struct Unknown
struct {}
union { int a; double b; char c[0]; }
enum : char {}
Outer<int>::type
typename T::value
volatile float
const int * __restrict__
float (*)[0]
int[0]
size_t
_BitInt(200)
dim3
cudaTextureObject_t
std::vector<float>
T...
_Complex
""".strip().split(b"\n"),
)
REDEFINITIONS = (
    *rb"""
int short
int
float double
float char
double struct Undefined
if while
if(x) if (!(x))
for while
for(x) for (x) for (x)
return
return goto out;
else
else ; else
const
void int
struct union
class
template
typename
unsigned -
sizeof
sizeof(x) 0
true 0
while if
__global__
__global__ __device__
__global__ static inline
__device__ __global__
__shared__
__shared__ extern __shared__
__shared__ static
__restrict__ *
__syncthreads()
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
N
BLOCK_SIZE 0
BLOCK_SIZE
TILE_DIM -1
blockDim dim3(0, -1, 1)
blockDim gridDim
warpSize 0
dim3 int
float4 float
min(a, b) min(min(a, b), b)
max
sqrtf(x) sqrtf
__ldg(p) p
atomicAdd(p, v) (*(p) += (v))
assert(x) x
defined
include error
__CUDA_ARCH__ 0
__CUDA_ARCH__ -1
__CUDACC__ 0
NULL #
f(x) #x
f(...) __VA_ARGS__ ## __VA_ARGS__
main __global__
this
std
asm
namespace struct
operator
__launch_bounds__(...)
__launch_bounds__(...) __launch_bounds__(0, -1)
__align__(x) alignas(0)
""".strip().split(b"\n"),
)
"""Macros that change what the rest of a text means."""
UNENDED = (
    b"/*",
    b'"',
    b"'",
    b'R"delimiter(',
    b'R"(',
    b"L'",
    b"\n#if 0\n",
    b"\n#if 1\n#else\n",
    b"\n#ifdef A\n#elif\n",
    b"(",
    b"{",
    b"[",
    b"<<<",
    b"template <",
    b"namespace a {",
    b"struct s {",
    b"enum {",
    b"[[",
    b"__attribute__((",
    b'asm("',
    b'asm volatile("mov.u32 %0, %%tid.x;" : "=r"(',
    b'extern "C" {',
    b"do {",
    b"switch (threadIdx.x) { case",
    b"\n#define A(x, ",
    b"\n#pragma unroll (",
    b'\n#include "',
    b"\n#include <",
    b"\n#line",
    b"//\\",
    b"\\",
    b"<%",
    b"??<",
    b"__shared__ float tile[",
    b"for (int i = 0; i <",
    b"if constexpr (",
    b"auto f = [&",
    b"reinterpret_cast<",
    b"sizeof ",
    b"\n#if defined(",
    b"\n#if (",
    b"\n#if __has_include(",
    b"requires (",
    b"decltype(",
    b"operator",
)
NESTS: tuple[tuple[bytes, bytes, bytes], ...] = (
    (b"{", b"", b"}"),
    (b"if (threadIdx.x) {", b"", b"}"),
    (b"if (threadIdx.x > 1) ", b";", b"else ;"),
    (b"for (int j = 0; j < 3; j++) {", b"__syncthreads();", b"}"),
    (b"while (n) {", b"n--;", b"}"),
    (b"do {", b"", b"} while (n);"),
    (b"switch (threadIdx.x) { case 1: ", b"", b"}"),
    (b"namespace a {", b"", b"}"),
    (b"struct s {", b"int x;", b"} m;"),
    (b"[&] { ", b"", b"}();"),
    (b"int v = (1 ? ", b"1", b" : 2);"),
    (b"int v = (", b"1", b");"),
    (b"f(", b"x", b");"),
    (b"A<", b"int", b"> v;"),
    (b"{ __shared__ int s[32]; s[threadIdx.x] = 1; ", b"", b"}"),
    (b"try {", b"", b"} catch (...) {}"),
    (b"for (;;) { ", b"break;", b"}"),
    (b'extern "C" {', b"", b"}"),
    (b"x = ", b"1", b";"),
    (b"!", b"x", b""),
    (b"(int)", b"x", b""),
    (b"*&", b"p", b""),
    (b"x, ", b"x", b""),
    (b"p[", b"0", b"]"),
    (b"label: ", b";", b""),
    (b"\n#ifdef A\n", b"", b"\n#else\n#endif\n"),
    (b"template <typename T = int> ", b"struct t;", b""),
    (b"else if (1) ", b";", b""),
    (b"__device__ int g(int x) { return x ? g(x - 1) : 0; } ", b"", b""),
    (b"const ", b"int c;", b""),
    (b"a::", b"b c;", b""),
)
STATEMENTS = (
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
DECLARATIONS = (
    b"template <int N> struct R { static const int v = R<N - 1>::v + 1; }; __device__ int r = R<100000>::v;",
    b"template <int N> __global__ void deep(float *p) { p[threadIdx.x * N] = 1; deep<N + 1><<<1, 1>>>(p); }",
    b"template <typename... T> __global__ void many(T *...p) { ((p[threadIdx.x * 32] = 1), ...); }",
    b"__global__ void empty() {}",
    b"__global__ void proto(float *p);",
    b"__global__ int wrong(float p) { return p; }",
    b"__global__ void nothing(float *p) { if (0) p[0] = 1; }",
    b"__global__ __launch_bounds__(0) void zero(int *p) { p[threadIdx.x] = 1; }",
    b"__global__ __launch_bounds__(-1, 1 << 30) void minus(int *p) { p[threadIdx.x * 32] = 1; }",
    b"struct S { int a : 0; int b[]; };",
    b"__global__ void loop(float *p) { loop(p); }",
    (b"__device__ void a(int *); __device__ void b(int *p) { a(p); } __device__ void a(int *p) { b(p); } "
    b"__global__ void k(int *p) { a(p); }"),
    b"struct alignas(1 << 28) Wide { char c; }; __global__ void wide(Wide *p) { p[threadIdx.x].c = 1; }",
    b"struct E {}; __global__ void none(E *p) { p[threadIdx.x] = E(); }",
    b"__shared__ float outside[32];",
    b"__constant__ float table[1ull << 40]; __global__ void c(float *p) { *p = table[threadIdx.x << 40]; }",
    b"typedef float many[1 << 30][1 << 30];",
    b"class C { __global__ void member(float *p) { p[threadIdx.x * 2] = 1; } };",
    b"namespace { namespace { __global__ void hidden(int *p) { p[threadIdx.x * 8] = 0; } } }",
    b"using namespace nowhere;",
    b"__global__ void big(struct { char c[1 << 20]; } x, float *p) { p[threadIdx.x] = x.c[threadIdx.x]; }",
    b"int main(int argc, char **argv) { int n = atoi(argv[1]); k<<<n, n>>>(0); return main(argc, argv); }",
    b"__managed__ int m; __global__ void mm() { m[threadIdx.x] = 1; }",
    b'extern "C" __global__ void \xc3\xbcber(float *p) { p[threadIdx.x * 32] = 1; }',
    b"__global__ void \\u00e9(float *p) { p[threadIdx.x * 32] = 1; }",
    b"#define X0 +1\n"
    + b"".join(b"#define X%d X%d X%d X%d X%d\n" % (n + 1, n, n, n, n) for n in range(6))
    + b"int x = 0 X6;",
    (b"union U { float f[4]; struct { int i; } s; }; "
    b"__global__ void u(U *p) { p[threadIdx.x].f[threadIdx.x % 5] = p->s.i; }"),
    b'static_assert(1 / 0, "\\x1b");',
    b"template <auto> concept c = c<0>;",
    b"constexpr int f(int n) { return n ? f(n - 1) + f(n - 1) : 1; } __device__ int g = f(60);",
    b"__global__ void p3(float ***p) { p[threadIdx.x][threadIdx.y][threadIdx.z * 32] = ***p; }",
)
DIRECTIVES = (
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
#ifdef
#elif 1
#else
#endif
#undef __CUDACC__
#undef threadIdx
#define
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
#error
#warning ::error::x
#
_Pragma("once")
_Pragma("unroll
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
    b"#define A A A\nA A",
    b"#\\",
)
ANNOTATIONS = (
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
""".strip().split(b"\n"),
    b"assume(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((",
)
