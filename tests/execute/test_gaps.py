"""What an execution passes over: gaps with their places, and calls that are not followed."""

from __future__ import annotations

import pytest
from executing import execute, kernel_in

from cudalint.execute.trace import Trace


def _run(source: str) -> Trace:
    return execute(kernel_in(source), (32, 1, 1), (2, 1, 1))


_HEAD = """
__device__ int elsewhere(float *a, int n);
struct Shape { float *data; __device__ virtual int stride() { return 1; } };
struct Map { __device__ void insert(int key); };
"""


@pytest.mark.parametrize(
    ("body", "reason", "kind"),
    [
        ("a[threadIdx.x] = elsewhere(a, 1);", "`elsewhere` has no body in sight", "unseen"),
        ("a[0] = shape->stride();", "`stride` is virtual and was not followed", "other"),
        ('asm("multimem.red.global.add.f32 [%0], %1;" :: "l"(a), "f"(1.f));',
         "its inline PTX (`multimem.red.global.add.f32`) accesses memory", "other"),
    ],
)  # fmt: skip
def test_a_gap_has_its_place(body: str, reason: str, kind: str) -> None:
    trace = _run(f"{_HEAD}\n__global__ void kernel(float *a, Shape *shape)\n{{\n{body}\n}}")
    (gap,) = trace.gaps
    assert (gap.reason, gap.kind, gap.span.line) == (reason, kind, 8)


def test_a_gap_is_told_once_however_often_it_is_met() -> None:
    trace = _run(f"{_HEAD}\n__global__ void kernel(float *a) {{ for (int i = 0; i < 5; i++) elsewhere(a, i); }}")
    assert len(trace.gaps) == 1
    assert len(trace.calls) >= 2


def test_calls_are_events_of_their_lanes_between_barriers() -> None:
    body = "a[0] = 1; __syncthreads(); if (threadIdx.x < 4) elsewhere(a + 1, 1); a[1] = 2;"
    (call,) = _run(f"{_HEAD}\n__global__ void kernel(float *a) {{ {body} }}").calls
    assert call.mask.sum(axis=1).tolist() == [4, 4]
    assert (call.interval, call.position, call.name, call.is_users) == (1, 1, "elsewhere", True)
    (pointer,) = call.pointers
    assert (pointer.allocation.name, pointer.offset) == ("a", 4)


def test_what_only_the_library_declares_is_no_gap_of_a_kernel_with_accesses() -> None:
    trace = _run(f"{_HEAD}\n__global__ void kernel(Map map) {{ map.insert(threadIdx.x); }}")
    assert not trace.accesses
    assert [gap.reason for gap in (*trace.gaps, *trace.unread)] == ["`insert` has no body in sight"]


def test_errors_in_a_function_are_gaps_of_those_who_call_it() -> None:
    source = """
__device__ void helper(float *a)
{
    a[1] = nobody(3);
}
__global__ void kernel(float *a) { helper(a); a[threadIdx.x] = 1; }
"""
    trace = _run(source)
    (gap,) = trace.gaps
    assert gap.kind == "unresolved"
    assert gap.problem is not None
    assert gap.problem.line == 4
    assert [call.is_in_part for call in trace.calls] == [True]
