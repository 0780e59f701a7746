"""Accesses out of bounds and misaligned ones, against executions thread by thread."""

from __future__ import annotations

import pytest
from executing import execute, kernel_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from racing import Kernel, Step, kernels, steps_of
from random_cases import cases

from cudalint.execute.memory import Allocation
from cudalint.execute.values import Pointer
from cudalint.ir import nodes as ir
from cudalint.measure.bounds import Violation, violations_of

pytestmark = pytest.mark.filterwarnings("ignore:The recursion limit:hypothesis.errors.HypothesisWarning")
QUIET = settings(
    max_examples=cases(80), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


Wrong = dict[tuple[int, str], list[tuple[int, int, tuple[int, int], Step]]]
"""World, block, thread (with the width of its block) and step of all that is wrong, by line and operation."""


def _check(found: list[Violation], expected: Wrong, text: str) -> None:
    by_site = {(each.node.span.line, each.operation): each for each in found}
    assert len(by_site) == len(found)
    assert set(by_site) == set(expected), text
    for site, each in by_site.items():
        wrong = expected[site]
        assert set(each.worlds) == {world for world, *_ in wrong}, text
        assert each.executions == len(wrong), text
        starts = [step.start for *_, step in wrong]
        assert (each.lowest, each.highest) == (min(starts), max(starts)), text
        x, y, _ = each.thread
        matching = [
            step for world, block, (width, thread), step in wrong
            if (world, block, thread) == (each.world, each.block[0], y * width + x)
        ]  # fmt: skip
        assert each.offset in {step.start for step in matching}, text


@QUIET
@given(kernels(), st.tuples(st.integers(1, 64), st.integers(1, 64)), st.integers(4, 512))
def test_bounds_and_alignment(kernel: Kernel, extents: tuple[int, int], bytes_: int) -> None:
    kernel.extents = extents
    source = kernel.source()
    sizes = {"s": 4 * extents[0], "c": extents[1], "g": bytes_}
    outside: Wrong = {}
    misaligned: Wrong = {}
    for world, n in enumerate(kernel.numbers):
        for block in range(kernel.blocks):
            for thread in range(kernel.threads):
                for step in steps_of(kernel, thread, block, n):
                    if not step.array:
                        continue
                    entry = world, block, (kernel.block[0], thread), step
                    if step.start + step.bytes > sizes[step.array]:
                        outside.setdefault((step.line, step.what), []).append(entry)
                    if step.start % step.bytes:
                        misaligned.setdefault((step.line, step.what), []).append(entry)
    g = Pointer(Allocation("g", "global", extent=bytes_), 0, ir.Scalar("int", 4, "int"))
    trace = execute(kernel_in(source), kernel.block, (kernel.blocks, 1, 1), {"n": kernel.numbers, "g": g})
    found = violations_of(trace)
    _check(found.outside, outside, source)
    _check(found.misaligned, misaligned, source)


def test_local_arrays() -> None:
    source = """
__global__ void k(int* out, const int* data, int n) {
    int a[4], t = threadIdx.x;
    for (int i = 0; i < n; i++)
        a[i] = i;
    if (t < 40)
        a[t / 8] = 1;
    if (data[t])
        a[4] = 0;
    out[t] = a[t % 4];
}
"""
    trace = execute(kernel_in(source), (64, 1, 1), (1, 1, 1), {"n": [4, 5]})
    found = violations_of(trace).outside
    assert [(each.node.span.line, each.offset, each.thread[0], each.worlds, each.is_conditional) for each in found] == [
        (5, 16, 0, (1,), False), (7, 16, 32, (0, 1), False), (9, 16, 0, (0, 1), True),
    ]  # fmt: skip
    assert [each.executions for each in found] == [64, 16, 128]


def test_extents_that_nobody_knows() -> None:
    source = """
__global__ void k(int* out) {
    extern __shared__ int s[];
    s[threadIdx.x + 100000] = 1;
    out[threadIdx.x - 1] = 2;
}
"""
    assert not violations_of(execute(kernel_in(source), (32, 1, 1), (1, 1, 1))).outside
