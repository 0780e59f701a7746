"""Kernels and numbers that ask for too much: an execution ends in time, keeps what it has, and says so."""

from __future__ import annotations

import time
from collections.abc import Mapping

import numpy as np
import pytest
from executing import kernel_in
from msgspec.structs import replace

from cudalint.execute.budget import Limits
from cudalint.execute.lanes import Lanes
from cudalint.execute.machine import Machine
from cudalint.execute.program import Program
from cudalint.execute.trace import Trace
from cudalint.ir import statements as st
from cudalint.ir.walk import walk
from cudalint.measure.requests import figures
from cudalint.system.processes.deadline import Deadline

_SECONDS = 20
"""A test ends within these on a busy machine; what is tested takes a tenth."""
_MOST_BYTES = 200 << 20


def _run(
    source: str, arguments: Mapping[str, object] | None = None, block: tuple[int, int, int] = (256, 1, 1),
    grid: tuple[int, int, int] = (4, 1, 1), limits: Limits | None = None,
) -> Trace:  # fmt: skip
    function = kernel_in(source)
    given = {p: (arguments or {})[p.name] for p in function.parameters if p.name in (arguments or {})}
    begin = time.process_time()
    lanes = Lanes(block, grid, [(x, 0, 0) for x in range(min(9, grid[0]))])
    trace = Machine(lanes, Program(), limits).run(function, given)
    assert time.process_time() - begin < _SECONDS
    assert _bytes_of(trace) < _MOST_BYTES
    return trace


def _bytes_of(trace: Trace) -> int:
    """Of all arrays of the events, each once."""
    arrays = {
        id(value): value.nbytes
        for event in (*trace.accesses, *trace.branches, *trace.barriers)
        for value in event
        if isinstance(value, np.ndarray)
    }
    return sum(arrays.values())


_LARGE = [1 << 31, 1 << 32, 1 << 60, (1 << 63) - 1, (1 << 64) - 1, -1, -(1 << 63), 0]


@pytest.mark.parametrize("number", _LARGE)
@pytest.mark.parametrize("type_", ["int", "unsigned", "long", "unsigned long"])
def test_numbers_of_any_size(number: int, type_: str) -> None:
    body = """
        unsigned long i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) a[i * n] = 1;
        a[n + i] = a[n * 16 - i] + a[i / (n ? n : 1)] + a[i % (n ? n : 1)];
        a[n << 3] = a[(i + n) >> 2];
        float4 *b = (float4 *)a;
        b[n] = b[n * n + i];
        for (unsigned long k = i; k < n; k += n / 3 + 1) a[k] += 1;
    """
    trace = _run(f"__global__ void kernel(float *a, {type_} n) {{ {body} }}", {"n": number})
    assert trace.accesses
    figures(trace)


@pytest.mark.parametrize("number", [1 << 40, (1 << 62) + 1])
@pytest.mark.parametrize(
    "loop",
    [
        "for (long k = 0; k < n; k++) a[k] += 1;",
        "for (long k = 0; k < n; k++) if (k % 3) a[k] += a[k * k];",
        "for (long k = 1; k < n; k *= 2) a[k] += 1;",
        "for (long k = 0; k < n; k++) for (long j = k; j < n; j++) a[j] += a[k ^ j];",
        "long k = n; while (k > 1) { k = k % 2 ? 3 * k + 1 : k / 2; a[k & 1023] = k; }",
        "while (true) { a[n] += 1; }",
        "for (;;) { n ^= n << 13; n ^= n >> 7; a[n & 4095] = 1; if (n == 0) break; }",
        "for (long i = 0; i < n; i++) { if (a[i] > 0) break; a[i] = i; }",
    ],
)
def test_loops_of_too_many_turns(number: int, loop: str) -> None:
    trace = _run(f"__global__ void kernel(float *a, long n) {{ {loop} a[threadIdx.x] = 2; }}", {"n": number})
    assert trace.left_out or trace.is_cut or len(trace.accesses) < 100
    figures(trace)


def test_events_are_bounded_in_all() -> None:
    """Sixty accesses whose addresses differ in all lanes and go no even way, in loops of many turns."""
    parts = "\n".join(f"a[(t * {number} + k * k * {number}) % 1000003] = k;" for number in range(1, 60))
    head = "__global__ void kernel(float *a, int n) { int t = threadIdx.x + blockIdx.x * 777;"
    source = f"{head} for (int k = 0; k < n; k++) {{ {parts} }} }}"
    trace = _run(source, {"n": 1900}, block=(1024, 1, 1), grid=(9, 1, 1))
    assert trace.is_cut or any(each.reason in ("too many events", "sampled turns") for each in trace.left_out)


def test_a_weight_that_is_owed_is_paid() -> None:
    """Of more executions than are kept, the others stand for those that are not."""
    trace = _run(
        """__global__ void kernel(float *a, int n) {
            for (int k = 0; k < n; k++) if ((k * k) % 7 < 3) a[(k * k) % 97] = 1;
        }""",
        {"n": 1500}, block=(32, 1, 1), grid=(1, 1, 1),
    )  # fmt: skip
    total = sum(float(np.sum(event.weight)) for event in trace.accesses)
    exact = sum((k * k) % 7 < 3 for k in range(1500))
    assert total == pytest.approx(exact, rel=0.3)


@pytest.mark.parametrize(
    "source",
    [
        "__device__ int f(int n) { return f(n + 1) + f(n + 2); } __global__ void kernel(int *a) { a[0] = f(0); }",
        """__device__ int g(int n); __device__ int f(int n) { return n ? g(n - 1) : 0; }
           __device__ int g(int n) { return n ? f(n - 1) + f(n - 2) : 1; }
           __global__ void kernel(int *a) { a[0] = f(1000000); }""",
        """template <int N> __device__ int f(int *a) { a[N] = N; return f<N - 1>(a) + f<N - 2>(a); }
           template <> __device__ int f<0>(int *a) { return 0; } template <> __device__ int f<1>(int *a) { return 1; }
           __global__ void kernel(int *a) { a[0] = f<30>(a); }""",
    ],
)
def test_recursion(source: str) -> None:
    trace = _run(source, limits=Limits(steps=100_000))
    assert trace.is_cut or trace.gaps


def test_ifs_in_ifs() -> None:
    """More of them than Python has frames: what can't be executed is told."""
    function = kernel_in("__global__ void kernel(int *a) { if (threadIdx.x > 1) { a[threadIdx.x] = 1; } }")
    inner = next(node for node in walk(function.body) if isinstance(node, st.If))
    for _ in range(10_000):
        inner = st.If(inner.condition, st.Block((inner,), inner.span), None, inner.span)
    trace = Machine(Lanes((32, 1, 1), (1, 1, 1), [(0, 0, 0)]), Program()).run(replace(function, body=inner), {})
    assert trace.cut == "its body is nested too deeply"


def test_ifs_after_ifs() -> None:
    body = " ".join(f"if (threadIdx.x > {number % 300}) a[threadIdx.x + {number}] = 1;" for number in range(3000))
    trace = _run(f"__global__ void kernel(int *a) {{ {body} }}", block=(1024, 1, 1), grid=(64, 1, 1))
    assert trace.accesses


@pytest.mark.parametrize(
    "body",
    [
        "int x[1 << 20]; for (int i = 0; i < (1 << 20); i++) x[i] = i * threadIdx.x; a[0] = x[threadIdx.x];",
        "int x[4096] = {}; for (int i = 0; i < 4096; i++) x[(i * 37 + threadIdx.x) % 4096] += i; a[0] = x[5];",
        "__shared__ int x[1 << 30]; x[threadIdx.x] = 1; __syncthreads(); a[0] = x[threadIdx.x * 1000];",
        "struct S { int x[1000][1000]; } s; s.x[3][threadIdx.x] = 1; S u = s; a[0] = u.x[3][3];",
    ],
)
def test_huge_arrays(body: str) -> None:
    trace = _run(f"__global__ void kernel(int *a) {{ {body} }}", block=(1024, 1, 1), grid=(64, 1, 1))
    assert trace.accesses or trace.is_cut


def test_a_deadline_ends_an_execution_that_keeps_what_it_has() -> None:
    source = """__global__ void kernel(int *a, int n) {
        a[threadIdx.x] = 7;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++) if ((i ^ j) % 5 > 1) a[i * j + threadIdx.x] += (i * i) % 7;
    }"""
    begin = time.process_time()
    limits = Limits(deadline=Deadline(begin + 0.2))
    trace = _run(source, {"n": 100_000}, block=(1024, 1, 1), grid=(9, 1, 1), limits=limits)
    assert time.process_time() - begin < 5
    assert trace.cut == "its body takes too long to execute"
    assert trace.accesses[0].value == 7


@pytest.mark.parametrize("number", _LARGE)
def test_nested_loops_that_threads_go_through_up_to_any_number(number: int) -> None:
    """A negative number of elements is a large one as `size_t`, which no array of signed numbers holds."""
    source = """
        __global__ void k(float *a, long n, int m) {
            for (int r = 0; r < m; r++) {
                for (size_t i = threadIdx.x; i < n; i += blockDim.x)
                    a[i & 255] = r;
                for (unsigned long i = threadIdx.x; i < n; i *= 3)
                    a[i & 255] = r;
                __syncthreads();
            }
        }
    """
    trace = _run(source, {"n": number, "m": 1 << 30}, limits=Limits(30_000))
    assert trace.cut or trace.left_out or trace.turns


def test_barriers_in_more_turns_than_an_int_counts() -> None:
    source = """
        __global__ void k(float *a, unsigned long n) {
            if (threadIdx.x < 32)
                for (unsigned long i = 0; i < n; ++i) { a[threadIdx.x] = i; __syncthreads(); }
            a[threadIdx.x] = 1;
        }
    """
    assert _run(source, {"n": 1 << 61}).accesses
