"""The width of two neighbouring accesses with something in between, and in loops. Expected is what nvcc 13.0 makes of
the same code for sm_90 (nvdisasm)."""

from __future__ import annotations

import pytest
from evaluating import evaluate

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

pytestmark = pytest.mark.usefixtures("stores_without_reads_count")

_BEFORE = """
__device__ float power(float x) { float y; asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); return y; }
"""

_BETWEEN = [
    # what is in between; bytes of loads and of stores of a static array, a dynamic one, and of fields in global memory
    ("", (8, 8), (8, 8), (8, 8)),
    ("q = __shfl_xor_sync(~0u, x, 1);", (8, 8), (8, 8), (4, 4)),
    ("q = __ballot_sync(~0u, x > 3);", (8, 8), (8, 8), (4, 4)),
    ("__syncwarp();", (4, 4), (4, 4), (4, 4)),
    ("__threadfence_block();", (4, 4), (4, 4), (4, 4)),
    ("q = power(x);", (8, 8), (8, 8), (4, 4)),
    ('asm volatile("cp.async.wait_group 0;");', (4, 4), (4, 4), (4, 4)),
    ('asm volatile("cp.async.commit_group;");', (8, 4), (8, 4), (4, 4)),
    ("atomicAdd((int*)b + 999, 1);", (8, 8), (8, 8), (4, 4)),
    ("q = x / a[t + 8];", (4, 4), (8, 8), (8, 8)),
    ("q = sqrtf(x);", (4, 4), (8, 8), (8, 8)),
    ("q = sinf(x);", (4, 4), (4, 4), (4, 4)),
    ("q = (int)x / n;", (8, 4), (8, 8), (8, 8)),
    ("if (n > 3) q *= 3;", (8, 8), (8, 8), (8, 8)),
    ("if (n > 3) q = a[t + 77];", (8, 4), (8, 4), (4, 4)),
    ("if (x > 3) q = a[t + 77];", (8, 4), (8, 4), (4, 4)),
    ("if (n > 3) { q = sinf(a[t + 77]); q += cosf(a[(int)q + 2]); }", (4, 4), (4, 4), (4, 4)),
    ("for (int i = 0; i < n; i++) q = q * a[i] + 1;", (4, 4), (4, 4), (4, 4)),
    ("for (int i = 0; i < 8; i++) q = q * a[i] + 1;", (8, 8), (8, 8), (8, 8)),
]
_ARRAYS = [
    # declaration, and two neighbours
    ("__shared__ float d[2048];", "d[2 * t]", "d[2 * t + 1]"),
    ("extern __shared__ float d[];", "d[2 * t]", "d[2 * t + 1]"),
    ("float2* __restrict__ d = (float2*)b + 4096;", "d[t].x", "d[t].y"),
]


@pytest.mark.parametrize("array", range(3))
@pytest.mark.parametrize("between", range(len(_BETWEEN)))
def test_width_of_neighbours(between: int, array: int) -> None:
    code, *expected = _BETWEEN[between]
    declaration, one, two = _ARRAYS[array]
    loads = f"{declaration} float q = 1, x = {one}; {code} b[t] = x + q * {two};"
    stores = f"{declaration} float q = 1, x = a[t]; {one} = x; {code} {two} = x + q;"
    widths = []
    for body, operation in ((loads, "load"), (stores, "store")):
        # Arguments that the launch knows are unknown to the compiler.
        kernel = evaluate(body, arguments="5, 7", before=_BEFORE)
        widths.append({a.bytes for a in kernel.accesses if _is_of(a.expression, "d[") and a.operation == operation})
    assert widths == [{width} for width in expected[array]]


def _is_of(expression: str, array: str) -> bool:
    return expression.startswith(array)


def test_what_a_run_time_flag_guards_is_not_merged_with_what_it_does_not() -> None:
    """The launch passes 5, which the compiler does not know."""
    body = "extern __shared__ float d[]; float x = a[t]; if (n) { d[2 * t] = x; } d[2 * t + 1] = x + 1;"
    assert {a.bytes for a in evaluate(body).accesses if a.expression.startswith("d[")} == {4}
    body = "extern __shared__ float d[]; float x = 0; if (n) { x += d[2 * t]; } b[t] = x + sinf(b[t]) * d[2 * t + 1];"
    assert {a.bytes for a in evaluate(body).accesses if a.expression.startswith("d[")} == {4}


def test_what_a_run_time_flag_leaves_out_keeps_apart() -> None:
    """Stores on both sides of a branch that this launch does not take: the compiler does not know that (sm_80 and sm_90
    have two STS, and two LDS where the branch is a jump)."""
    arrays = "extern __shared__ float d[];"
    stores = f"{arrays} float x = a[t], q = 1; d[2 * t] = x; if (n == 3) {{ q = a[t + 77]; }} d[2 * t + 1] = x * q;"
    assert {a.bytes for a in evaluate(stores).accesses if a.expression.startswith("d[")} == {4}
    code = "if (n == 3) { q = sinf(a[t + 77]); q += cosf(a[(int)q + 2]); }"
    filled = f"{arrays} d[t] = a[t]; __syncthreads();"
    loads = f"{filled} float q = 1, x = d[2 * t]; {code} b[t] = x + q * d[2 * t + 1];"
    assert {a.bytes for a in evaluate(loads).accesses if a.expression.startswith("d[")} == {4}


@pytest.mark.parametrize(
    ("qualifier", "target", "width"),
    [("", "a100", 4), ("volatile", "a100", 4), ("", "b200", 16), ("volatile", "b200", 4)],
)
def test_inline_ptx_keeps_apart_what_its_compiler_does_not_understand(qualifier: str, target: str, width: int) -> None:
    """Four stores with an `ex2` before each (nvcc 13.0 -ptx): for sm_80 each is one of its own, for sm_100 one of 16
    bytes is made of them if the statement is not volatile. The assembler merges nothing in global memory."""
    source = f"""
__device__ float power(float x) {{
    float y;
    asm {qualifier}("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}}
__global__ void k(float4* d) {{
    float q = threadIdx.x;
    d[threadIdx.x].x = q;
    q = power(q);
    d[threadIdx.x].y = q;
    q = power(q);
    d[threadIdx.x].z = q;
    q = power(q);
    d[threadIdx.x].w = q;
}}
void launch(float4* d) {{ k<<<1, 32>>>(d); }}
"""
    (kernel,) = analyse_file("k.cu", AnalysisOptions(unsaved=(("k.cu", source),), target=target)).kernels
    assert {access.bytes for access in kernel.accesses} == {width}


def test_what_a_constant_decides_is_merged() -> None:
    body = "extern __shared__ float d[]; float x = a[t]; if (sizeof(x) == 4) { d[2 * t] = x; } d[2 * t + 1] = x + 1;"
    assert {a.bytes for a in evaluate(body).accesses if a.expression.startswith("d[")} == {8}


_LOOPS = [
    # what iteration k computes from `v`; bytes of its load and of its store, in a static array and in a dynamic one
    ("v / d", (4, 4), (16, 16)),
    ("sqrtf(v)", (4, 4), (16, 16)),
    ("(int)v / n", (16, 4), (16, 16)),
    ("sinf(v)", (4, 4), (4, 4)),
    ("powf(v, d)", (4, 4), (4, 4)),
    ("power(v)", (16, 16), (16, 16)),
    ("__shfl_xor_sync(~0u, v, 1)", (16, 16), (16, 16)),
    ("(n > 3 ? v * 3 : v)", (16, 16), (16, 16)),
]


@pytest.mark.parametrize(("value", "static", "dynamic"), _LOOPS)
def test_width_in_unrolled_loops(value: str, static: tuple[int, int], dynamic: tuple[int, int]) -> None:
    for declaration, expected in (("__shared__ float e[8192];", static), ("extern __shared__ float e[];", dynamic)):
        head = f"{declaration} float d = a[t], x = 0; for (int k = 0; k < 8; k++) {{"
        loads = f"{head} float v = e[96 * t + k]; x += {value}; }} b[t] = x;"
        stores = f"{head} float v = a[t + k * 99]; e[96 * t + k] = {value}; }}"
        kernels = [evaluate(body, arguments="unknown, other", before=_BEFORE) for body in (loads, stores)]
        found = [{a.bytes for a in kernel.accesses if a.array == "e"} for kernel in kernels]
        assert found == [{width} for width in expected]


def test_one_thread_reads_the_results_of_eight_warps_in_three_loads() -> None:
    """CUB keeps a byte for each warp before the results: 8 of 4 bytes from byte 8 on. nvcc 13.0 (sm_80) reads all but
    the first one by loads of 4 bytes at 12, of 16 at 16 and of 8 at 32."""
    source = """
#include <cub/cub.cuh>
__global__ void k(const int* a, int* b) {
    __shared__ cub::BlockReduce<int, 256>::TempStorage storage;
    b[threadIdx.x] = cub::BlockReduce<int, 256>(storage).Sum(a[threadIdx.x]);
}
void launch(const int* a, int* b) { k<<<1, 256>>>(a, b); }
"""
    (kernel,) = analyse_file("k.cu", AnalysisOptions(unsaved=(("k.cu", source),))).kernels
    loads = [a.bytes for a in kernel.accesses if (a.space, a.operation) == ("shared", "load")]
    assert sorted(loads) == [4, 8, 16]
    assert kernel.resources.static_shared_bytes == 8 + 9 * 4


@pytest.mark.parametrize(
    ("code", "width"),
    [
        # Read from the machine code for sm_80.
        ("q = d[2 * t]; if (t < m) q += d[2 * t + 1]; b[t] = q;", 8),
        ("q = d[2 * t]; if (q < m) b[t + 77] = q * d[2 * t + 1];", 8),
        ("q = d[2 * t]; if (q < n) { if (t < m) b[t + 77] = q * d[2 * t + 1]; }", 8),
        ("q = d[2 * t]; if (q < n) { q = sinf(d[2 * t + 1] * m); } b[t] = q;", 8),
        ("q = d[2 * t]; if (q < n) { q = d[2 * t + 1]; b[t] = q; b[t + 88] = a[t + 55]; b[t + 99] = a[t + 66]; }", 8),
        ("if (t < n) q += d[2 * t]; q *= d[2 * t + 1]; b[t] = q;", 4),
        ("if (t < n) b[t + 77] = d[2 * t]; q *= d[2 * t + 1]; b[t] = q;", 4),
        ("if (t < n) q += d[2 * t]; if (t < m) q *= d[2 * t + 1]; b[t] = q;", 4),
        ("if (t < n) q += d[2 * t]; else q *= d[2 * t + 1]; b[t] = q;", 4),
    ],
)
def test_loads_in_branches(code: str, width: int) -> None:
    """A load on the way to a branch brings along the neighbour that is loaded in it, and no other way round."""
    declared = "__shared__ float d[2048]; d[t] = a[t]; float q = 1; __syncthreads();"
    kernel = evaluate(f"{declared} {code}", arguments="unknown, other")
    assert {a.bytes for a in kernel.accesses if a.array == "d" and a.operation == "load"} == {width}
