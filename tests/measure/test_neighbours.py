"""Neighbours, words of constant memory and shared elements, against the addresses of all threads one by one."""

from __future__ import annotations

import pytest
from executing import kernel_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_cases import cases

from cudalint.execute.counted import CountedProgram
from cudalint.execute.lanes import Lanes
from cudalint.execute.machine import Machine
from cudalint.execute.trace import Trace
from cudalint.ir import nodes as ir
from cudalint.measure.providers.constants import constant_loads
from cudalint.measure.providers.neighbours import neighbours
from cudalint.measure.providers.reuse import shared_loads

QUIET = settings(
    max_examples=cases(60), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
BLOCK, WARP = 64, 32


def _executed(source: str, numbers: list[int], blocks: int = 1) -> tuple[Trace, ir.Function]:
    kernel = kernel_in(source)
    lanes = Lanes((BLOCK, 1, 1), (blocks, 1, 1), [[(x, 0, 0) for x in range(blocks)]] * len(numbers))
    given_ = {p: numbers for p in kernel.parameters if p.name == "n"}
    return Machine(lanes, CountedProgram()).run(kernel, given_), kernel


@QUIET
@given(
    st.integers(1, 8),
    st.lists(st.integers(0, 9), min_size=1, max_size=6, unique=True),
    st.sampled_from(["", "if (t > 3) ", "if (t % 2) "]),
    st.lists(st.sampled_from([4, 6, 7, 8, 12]), min_size=1, max_size=3),
    st.integers(0, 1),
)
def test_neighbours(stride: int, constants: list[int], guard: str, numbers: list[int], by_number: int) -> None:
    loads = " ".join(f"x += in[{stride} * t + {c} + {by_number} * n];" for c in constants)
    source = f"""__global__ void k(const float *in, float *out, int n) {{
        int t = threadIdx.x; float x = 0;
        {guard}{{ {loads} }}
        out[t] = x; }}"""
    trace, kernel = _executed(source, numbers)
    starts = [stride * t + by_number * n for n in numbers for t in range(BLOCK) if _comes(guard, t)]

    def is_run(first: int, count: int) -> bool:
        follows = all(first + step in constants for step in range(count))
        return follows and all((start + first) % count == 0 for start in starts)

    possible = {(c, count) for count in (2, 4) for c in constants if is_run(c, count)}
    found = []
    for group in neighbours(trace, kernel):
        if group.accesses[0].first.operation == "load":
            own = [each.first.node for each in group.accesses]
            shifts = [constants[_number_of(node, trace)] for node in own]
            assert shifts == list(range(shifts[0], shifts[0] + group.elements))
            assert (shifts[0], group.elements) in possible
            found += shifts
    assert len(found) == len(set(found))
    assert bool(found) == bool(possible)
    assert all(c in found for c, count in possible if count == 4 and not _overlaps(c, possible))


def _overlaps(first: int, possible: set[tuple[int, int]]) -> bool:
    return any(count == 4 and other != first and abs(other - first) < 4 for other, count in possible)


def _comes(guard: str, t: int) -> bool:
    return t > 3 if ">" in guard else t % 2 == 1 if "%" in guard else True


def _number_of(node: object, trace: Trace) -> int:
    """Of a load, in the order of the source."""
    nodes = list(dict.fromkeys(e.node for e in trace.accesses if e.operation == "load"))
    return nodes.index(node)


@pytest.mark.parametrize(
    ("loop", "index", "elements"),
    [
        ("for (int k = 0; k < 4; k++)", "4 * t + k", 4),
        ("for (int k = 0; k < 6; k++)", "6 * t + k", 2),
        ("for (int k = 0; k < 4; k++)", "t + 64 * k", 0),
        ("for (int k = 0; k < 4; k++)", "3 * t + k", 0),
        # How long it is nobody says to the compiler.
        ("for (int k = 0; k < n; k++)", "4 * t + k", 0),
    ],
)
def test_neighbours_of_a_loop(loop: str, index: str, elements: int) -> None:
    source = f"""__global__ void k(const float *in, float *out, int n) {{
        int t = threadIdx.x; float x = 0;
        {loop} x += in[{index}];
        out[t] = x; }}"""
    found = [group.elements for group in neighbours(*_executed(source, [4]))]
    assert found == ([elements] if elements else [])


def test_loads_between_which_something_may_be_stored_are_no_neighbours() -> None:
    source = """__global__ void k(float *a) {
        int t = threadIdx.x;
        a[2 * t] = a[2 * t] + a[2 * t + 1]; }"""
    assert list(neighbours(*_executed(source, [1]))) == []


@QUIET
@given(st.integers(1, 9), st.integers(1, 70), st.integers(0, 40), st.lists(st.integers(1, 9), min_size=1, max_size=3))
def test_words_of_constant_memory(factor: int, modulus: int, guard: int, numbers: list[int]) -> None:
    source = f"""__constant__ float table[4096];
    __global__ void k(float *out, int n) {{
        int t = threadIdx.x;
        if (t >= {guard}) out[t] = table[{factor} * t % {modulus} + t / n]; }}"""
    trace, _ = _executed(source, numbers)
    ((_, words),) = constant_loads(trace)
    for world, n in enumerate(numbers):
        warps = [[t for t in range(first, first + WARP) if t >= guard] for first in range(0, BLOCK, WARP)]
        wanted = [len({factor * t % modulus + t // n for t in warp}) for warp in warps if warp]
        assert words.requests[world] == len(wanted)
        assert words.mean[world] == pytest.approx(sum(wanted) / len(wanted))
        assert words.most[world] == max(wanted)


@QUIET
@given(
    st.integers(1, 8), st.sampled_from(["t / d", "t % d", "0"]), st.integers(0, 4),
    st.lists(st.integers(1, 40), min_size=1, max_size=3),
)  # fmt: skip
def test_shared_elements(d: int, lane: str, step: int, numbers: list[int]) -> None:
    source = f"""__global__ void k(const float *in, float *out, int n) {{
        int t = threadIdx.x; const int d = {d}; float x = 0;
        for (int k = 0; k < n; k++) x += in[({lane}) + {step} * k + 100 * blockIdx.x];
        out[t] = x; }}"""
    trace, kernel = _executed(source, numbers, blocks=2)
    found = {load.site.node.span.line: load.worlds for load in shared_loads(trace, kernel, trace.executions)}
    worlds = next(iter(found.values()), (None,) * len(numbers))
    first = [eval(lane.replace("/", "//"), {"t": t, "d": d}) for t in range(BLOCK)]
    for n, own in zip(numbers, worlds, strict=True):
        moves = n > 1 and {each + step for each in first} - set(first)
        if not moves:
            assert own is None
            continue
        assert own is not None
        assert own.elements == len(set(first))
        assert own.threads == BLOCK / len(set(first))
        assert own.turns == n
