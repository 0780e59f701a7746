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
from cudalint.measure.alignment import misaligned_sites
from cudalint.measure.bounds import Sizes, outside
from cudalint.measure.faults import Found

pytestmark = pytest.mark.filterwarnings("ignore:The recursion limit:hypothesis.errors.HypothesisWarning")
QUIET = settings(
    max_examples=cases(80), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


Wrong = dict[tuple[int, str], list[tuple[int, int, tuple[int, int], Step]]]
"""World, block, thread (with the width of its block) and step of all that is wrong, by line and operation."""
Reached = dict[tuple[int, str], set[int]]
"""The worlds in which anybody comes to an access."""


def _check(found: list[Found], expected: Wrong, reached: Reached, text: str) -> None:
    by_site = {(each.site.node.span.line, each.site.operation): each for each in found}
    assert len(by_site) == len(found)
    assert set(by_site) == set(expected), text
    for site, each in by_site.items():
        wrong = expected[site]
        assert set(each.worlds) == {world for world, *_ in wrong}, text
        assert {world for world, held in enumerate(each.holds) if held is not None} == reached[site], text
        for world in each.worlds:
            offender = each.offenders[world]
            assert offender is not None
            x, y, _ = offender.thread
            matching = {
                step.start for own, block, (width, thread), step in wrong
                if (own, block, thread) == (world, offender.block[0], y * width + x)
            }  # fmt: skip
            assert offender.offset in matching, text


@QUIET
@given(kernels(), st.tuples(st.integers(1, 64), st.integers(1, 64)), st.integers(4, 512))
def test_bounds_and_alignment(kernel: Kernel, extents: tuple[int, int], bytes_: int) -> None:
    kernel.extents = extents
    source = kernel.source()
    sizes = {"s": 4 * extents[0], "c": extents[1], "g": bytes_}
    expected: Wrong = {}
    misaligned: Wrong = {}
    reached: Reached = {}
    for world, n in enumerate(kernel.numbers):
        for block in range(kernel.blocks):
            for thread in range(kernel.threads):
                for step in steps_of(kernel, thread, block, n):
                    if not step.array:
                        continue
                    reached.setdefault((step.line, step.what), set()).add(world)
                    entry = world, block, (kernel.block[0], thread), step
                    if step.start + step.bytes > sizes[step.array]:
                        expected.setdefault((step.line, step.what), []).append(entry)
                    if step.start % step.bytes:
                        misaligned.setdefault((step.line, step.what), []).append(entry)
    g = Pointer(Allocation("g", "global", extent=bytes_), 0, ir.Scalar("int", 4, "int"))
    trace = execute(kernel_in(source), kernel.block, (kernel.blocks, 1, 1), {"n": kernel.numbers, "g": g})
    _check(outside(trace, Sizes(len(kernel.numbers))), expected, reached, source)
    wrong = [found for found, *_ in misaligned_sites(trace, {})]
    _check(wrong, misaligned, reached, source)


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
    found = outside(trace, Sizes(2))
    assert [(each.site.node.span.line, each.site.is_conditional, each.holds) for each in found] == [
        (5, False, (False, True)), (7, False, (True, True)), (9, True, (True, True)),
    ]  # fmt: skip
    assert [(each.offender.offset, each.offender.thread[0]) for each in found] == [(16, 0), (16, 32), (16, 0)]


def test_extents_that_nobody_knows() -> None:
    source = """
__global__ void k(int* out) {
    extern __shared__ int s[];
    s[threadIdx.x + 100000] = 1;
    out[threadIdx.x - 1] = 2;
}
"""
    trace = execute(kernel_in(source), (32, 1, 1), (1, 1, 1))
    assert not outside(trace, Sizes(1))
    (own,) = outside(trace, Sizes(1, shared=(400_000,)))
    assert own.offender.offset == 400_000
