"""Functions that read and write memory, and what is kept of shared memory."""

from __future__ import annotations

import pytest
from executing import execute, kernel_in, stored

from cudalint.execute.trace import Trace
from cudalint.execute.values import Data


def _run(body: str, parameters: str = "float4* a, float4* b, int n", block: int = 64, head: str = "") -> Trace:
    return execute(kernel_in(f"{head}\n__global__ void kernel({parameters}) {{ {body} }}"), (block, 1, 1), (1, 1, 1))


def _accesses(trace: Trace) -> list[tuple[str, str, int]]:
    return [(each.operation, each.allocation.name, each.bytes) for each in trace.accesses]


COPY = [("load", "a", 16), ("store", "b", 16)]


@pytest.mark.parametrize(
    "body",
    [
        "b[threadIdx.x] = a[threadIdx.x];",
        "float4 tmp = a[threadIdx.x]; tmp.x *= 2; b[threadIdx.x] = tmp;",
        "float4 tmp; tmp = a[threadIdx.x]; *(b + threadIdx.x) = tmp;",
        "float4 v = __ldg(&a[threadIdx.x]); b[threadIdx.x] = make_float4(v.x, v.y, v.z, v.w);",
        "__stcs(&b[threadIdx.x], __ldcs(a + threadIdx.x));",
    ],
)
def test_a_vector_is_one_access(body: str) -> None:
    trace = _run(body)
    assert _accesses(trace) == COPY
    assert not trace.unknown


def test_a_vector_through_pointers_to_floats() -> None:
    body = "float4 tmp = reinterpret_cast<float4*>(&a[4 * threadIdx.x])[0];\n"
    body += "reinterpret_cast<float4*>(&b[4 * threadIdx.x])[0] =\n tmp;"
    trace = _run(body, "float* a, float* b")
    assert _accesses(trace) == COPY
    assert trace.accesses[1].offset[0, :3].tolist() == [0, 16, 32]
    # For both halves of a record's copy, nvcc names the line of what is copied.
    assert trace.accesses[1].node.span.line == 4


def test_records_go_in_pieces_of_their_alignment() -> None:
    """float2 is aligned to 8 bytes, a pair of floats of one's own to 4."""
    head = "struct Pair { float x, y; }; struct Mixed { double d; float f; }; struct Empty {};"
    for type_, widths in (("Pair", [4, 4]), ("float3", [4, 4, 4]), ("Mixed", [8, 8]), ("float2", [8]), ("Empty", [])):
        trace = _run("b[threadIdx.x] = a[threadIdx.x];", f"{type_}* a, {type_}* b", head=head)
        assert _accesses(trace) == [(op, name, w) for op, name in (("load", "a"), ("store", "b")) for w in widths]


def test_half_precision_numbers() -> None:
    head = "#include <cuda_fp16.h>"
    trace = _run("b[threadIdx.x] = __float2half(2.f * __half2float(a[threadIdx.x]));", "half* a, half* b", head=head)
    assert _accesses(trace) == [("load", "a", 2), ("store", "b", 2)]
    trace = _run("b[threadIdx.x] += (half)((float)a[threadIdx.x]);", "half* a, half* b", head=head)
    assert _accesses(trace) == [("load", "a", 2), ("load", "b", 2), ("store", "b", 2)]
    assert not trace.gaps


def test_atomics() -> None:
    trace = _run("n = atomicAdd(&a[threadIdx.x], 1); a[n] = 2;", "int* a, int n")
    assert _accesses(trace) == [("atomic", "a", 4), ("store", "a", 4)]
    assert isinstance(trace.accesses[1].offset, Data)
    assert trace.accesses[1].offset.kind == "atomic"
    body = "int x = 3; int y = atomicAdd(&x, t); out[t] = 100 * x + y;"
    assert stored(body) == [100 * (3 + t) + 3 for t in range(32)]


def test_copies_of_bytes() -> None:
    trace = _run("memcpy(b + 4 * threadIdx.x, a + 4 * threadIdx.x, 16);", "int* a, int* b")
    assert _accesses(trace) == [("load", "a", 4)] * 4 + [("store", "b", 4)] * 4
    assert stored("int x[2] = {t, 7}; int y[2]; memcpy(y, x, 8); out[t] = y[0] + y[1];") == [t + 7 for t in range(32)]
    assert stored("float f = t; int i; memcpy(&i, &f, 4); out[t] = i == __float_as_int((float)t);") == [True] * 32
    assert stored("int x[4]; memset(x, 0, 16); out[t] = x[3] + t;") == list(range(32))
    assert stored("int x[4]; memset(x, 1, 16); out[t] = x[3];") == [0x01010101] * 32


def test_asynchronous_copies() -> None:
    """One of each space for each copy."""
    body = "__shared__ float4 s[64]; __pipeline_memcpy_async(&s[threadIdx.x], &a[threadIdx.x], 16);"
    trace = _run(f"{body} __pipeline_commit(); __pipeline_wait_prior(1);", head="#include <cuda_pipeline.h>")
    assert _accesses(trace) == [("async-copy", "a", 16), ("async-copy", "s", 16)]
    assert [event.kept for event in trace.copies] == [None, 1]


# --- contents of shared memory ---------------------------------------------------------------------------------

SHARED = "__shared__ int s[64];"


def _found(body: str) -> list[object]:
    return stored(f"{SHARED} {body}", (64, 1, 1))


def test_integers_are_found_behind_a_barrier() -> None:
    assert _found("s[t] = 3 * t; __syncthreads(); out[t] = s[63 - t];") == [3 * (63 - t) for t in range(64)]
    assert _found("if (t == 5) s[0] = 9; __syncthreads(); out[t] = s[0];") == [9] * 64
    assert _found("s[t] = 3 * t; out[t] = s[t];") == [3 * t for t in range(64)]


@pytest.mark.parametrize(
    "body",
    [
        "s[t] = 3 * t; out[t] = s[63 - t];",  # No barrier.
        "if (t < 8) s[t] = t; __syncthreads(); out[t] = s[t];",  # Nobody has stored most of them.
        "s[0] = t; __syncthreads(); out[t] = s[0];",  # Who comes last?
        "s[t] = t; __syncthreads(); s[t] = in[t]; __syncthreads(); out[t] = s[t];",
        "s[t] = t; __syncthreads(); if (in[t]) s[t] = 4; __syncthreads(); out[t] = s[t];",
        "s[t] = t; __syncthreads(); s[in[t]] = 4; __syncthreads(); out[t] = s[t];",
        "s[t] = t; __syncthreads(); atomicAdd(&s[0], 1); __syncthreads(); out[t] = s[0];",
        "s[t] = t; __syncthreads(); ((short*)s)[2 * t] = 4; __syncthreads(); out[t] = s[t];",
        "s[t] = t; __syncthreads(); s[t ^ 1] = 4; out[t] = s[t];",
        "s[t] = 3 * t; __syncwarp(); out[t] = s[63 - t];",  # Another warp's.
    ],
)
def test_what_is_not_sure_is_data(body: str) -> None:
    (found, *_) = _found(body)
    assert isinstance(found, Data)


def test_integers_are_found_in_a_warp_behind_its_barrier() -> None:
    assert _found("s[t] = 3 * t; __syncwarp(); out[t] = s[t ^ 31];") == [3 * (t ^ 31) for t in range(64)]


def test_memory_of_the_heap() -> None:
    trace = _run("int* p = new int[n]; p[n] = 1; int* q = (int*)malloc(n); q[3] = 2; delete[] p; free(q);")
    assert _accesses(trace) == [("store", "new", 4), ("store", "malloc", 4)]


def test_variables_that_outlive_a_call() -> None:
    trace = _run("static int count; count++; static const int table[2] = {3, 4}; a[table[n & 0]].x = 1;")
    assert _accesses(trace)[:2] == [("load", "count", 4), ("store", "count", 4)]
    assert trace.accesses[2].offset == 48


def test_the_same_number_from_several_lanes() -> None:
    assert _found("s[t / 2] = t / 2; __syncthreads(); out[t] = s[t / 2];") == [t // 2 for t in range(64)]


def test_arrays_without_an_extent_are_one() -> None:
    head = "extern __shared__ int first[]; extern __shared__ float second[];"
    body = "first[t] = t; __syncthreads(); second[t] = 1.f; __syncthreads(); out[t] = first[t];"
    (found, *_) = stored(body, head=head)
    assert isinstance(found, Data)


def test_each_block_has_its_own() -> None:
    source = f"""__global__ void kernel(int* out) {{
        {SHARED} int t = threadIdx.x; s[t] = t + 64 * blockIdx.x; __syncthreads(); out[s[63 - t]] = 1; }}"""
    trace = execute(kernel_in(source), (64, 1, 1), (3, 1, 1))
    offset = trace.accesses[-1].offset
    assert offset.tolist() == [[4 * (63 - t + 64 * block) for t in range(64)] for block in range(3)]
