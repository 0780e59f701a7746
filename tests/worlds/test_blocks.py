"""The blocks that are sampled stand for all of their grid."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from executing import kernel_in
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_cases import cases

from cudalint.execute.lanes import Extents, Lanes
from cudalint.execute.machine import Machine
from cudalint.execute.program import Program
from cudalint.worlds.blocks import MOST_ROWS, most_blocks
from cudalint.worlds.records import Parameter
from cudalint.worlds.text import text_of

QUIET = settings(
    max_examples=cases(60), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)


def _sampled(
    source: str, block: Extents, grid: Extents, numbers: dict[str, int], most: int = 16
) -> list[tuple[Extents, float]]:
    kernel = kernel_in(source)
    values = {Parameter(symbol): numbers[symbol.name] for symbol in kernel.parameters if symbol.name in numbers}
    found = text_of(kernel).blocks.sampled(values, block, grid, most)
    assert 1 <= len(found) <= most
    assert all(0 <= at < extent for place, _ in found for at, extent in zip(place, grid, strict=True))
    assert len({place for place, _ in found}) == len(found)
    assert sum(weight for _, weight in found) == pytest.approx(math.prod(grid))
    return found


def _counts(
    source: str, block: Extents, grid: Extents, numbers: dict[str, int], blocks: list[tuple[Extents, float]]
) -> dict[int, tuple[float, float]]:
    """By line, how many warps make its accesses, and how many lanes."""
    kernel = kernel_in(source)
    given_ = {symbol: numbers[symbol.name] for symbol in kernel.parameters if symbol.name in numbers}
    lanes = Lanes(block, grid, [place for place, _ in blocks], [[weight for _, weight in blocks]])
    trace = Machine(lanes, Program(), in_full=True).run(kernel, given_)
    warps, active = Counter[int](), Counter[int]()
    for event in trace.accesses:
        by_warp = lanes.by_warp(event.mask)
        weight = np.broadcast_to(event.weight, by_warp.shape[:2])
        warps[event.node.span.line] += float((by_warp.any(axis=2) * weight).sum())
        active[event.node.span.line] += float((by_warp.sum(axis=2) * weight).sum())
    return {line: (warps[line], active[line]) for line in warps if warps[line]}


def _all(grid: Extents) -> list[tuple[Extents, float]]:
    x, y, z = grid
    return [((a, b, c), 1.0) for c in range(z) for b in range(y) for a in range(x)]


def _stands_for_all(source: str, block: Extents, grid: Extents, most: int = 16, **numbers: int) -> None:
    found = _sampled(source, block, grid, numbers, most)
    full = _counts(source, block, grid, numbers, _all(grid))
    some = _counts(source, block, grid, numbers, found)
    assert some.keys() == full.keys()
    for line, counts in full.items():
        assert some[line] == pytest.approx(counts), line


TAIL = """
    __global__ void k(float *a, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n)
            a[i] = 1;
        if (blockIdx.x == gridDim.x - 1)
            a[0] = 2;
    }
"""


def test_a_grid_that_is_larger_than_the_data() -> None:
    for n in (1, 31, 999, 1000 * 64 - 1, 64_000, 2**20):
        _stands_for_all(TAIL, (64, 1, 1), (1000, 1, 1), n=n)


def test_a_grid_of_too_many_blocks_to_look_at_each() -> None:
    blocks, n = 3_000_000, 123_456_789
    found = _sampled(TAIL, (64, 1, 1), (blocks, 1, 1), {"n": n})
    counts = _counts(TAIL, (64, 1, 1), (blocks, 1, 1), {"n": n}, found)
    assert counts[5] == pytest.approx((-(-n // 32), n))
    assert counts[7] == pytest.approx((2, 64))


def test_what_neighbours_and_ends_stand_for_is_taken_from_blocks_that_are_alike() -> None:
    for most in (8, 9, 10, 12, 16):
        for n in (97, 108, 193, 481):
            _stands_for_all(TAIL, (32, 1, 1), (-(-n // 32) + 9, 1, 1), most=most, n=n)


def test_persistent_loops() -> None:
    source = """
        __global__ void k(float *a, int n) {
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
                a[i] = 1;
        }
    """
    for n in (1, 1000, 64 * 40 * 3 + 65, 64 * 40 * 2):
        _stands_for_all(source, (64, 1, 1), (40, 1, 1), n=n)


def test_blocks_above_the_diagonal() -> None:
    source = """
        __global__ void k(float *a, int n) {
            if (blockIdx.x > blockIdx.y) return;
            a[blockIdx.y * n + threadIdx.x] = 1;
            if (blockIdx.x == blockIdx.y && threadIdx.x < 5)
                a[0] = 3;
        }
    """
    _stands_for_all(source, (32, 1, 1), (30, 30, 1), n=100)


def test_borders_of_tiles() -> None:
    source = """
        __global__ void k(float *a, int w, int h) {
            int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
            if (x > 0 && x < w - 1 && y > 0 && y < h - 1)
                a[y * w + x] = 1;
            if (x < w && y < h)
                a[y * w + x] = 2;
        }
    """
    _stands_for_all(source, (16, 16, 1), (20, 15, 1), most=24, w=300, h=230)


def test_places_in_a_grid_along_one_axis() -> None:
    source = """
        __global__ void k(float *a, int rows, int columns) {
            int tile = blockIdx.x % columns, row = blockIdx.x / columns;
            if (row >= rows) return;
            if (tile == 0)
                a[row] = 1;
            if (blockIdx.x & 1)
                a[threadIdx.x] = 2;
        }
    """
    _stands_for_all(source, (32, 1, 1), (400, 1, 1), rows=17, columns=20)


def test_a_kernel_that_asks_for_nothing_has_few_blocks() -> None:
    found = _sampled("__global__ void k(float *a) { a[blockIdx.x] = 1; }", (32, 1, 1), (1000, 1, 1), {})
    places = [place for place, _ in found]
    # The first four, and the neighbour of the first one.
    assert len(found) <= 5 and (0, 0, 0) in places and (999, 0, 0) in places


def test_no_more_rows_than_are_cheap() -> None:
    assert all(worlds * most_blocks(worlds) <= MOST_ROWS for worlds in range(1, 9))


@QUIET
@given(
    st.integers(1, 60), st.integers(1, 9), st.integers(-40, 40), st.integers(-40, 40), st.integers(-3000, 3000),
    st.sampled_from(("<", "<=", ">", ">=", "==", "!=")),
)  # fmt: skip
def test_affine_guards(x: int, y: int, along: int, across: int, bound: int, op: str) -> None:
    source = f"""
        __global__ void k(float *a, int n) {{
            if ({along} * (int)blockIdx.x + {across} * (int)blockIdx.y + (int)threadIdx.x {op} n)
                a[threadIdx.x] = 1;
        }}
    """
    # As many blocks are sampled as lie differently, so that nothing is estimated.
    _stands_for_all(source, (64, 1, 1), (x, y, 1), most=600, n=bound)


def test_blocks_are_spread_over_the_places_of_a_sector() -> None:
    """Rows of an odd number of words: of two words side by side in a sector, one row in four begins at one of them."""
    found = _sampled("__global__ void k(float *a) { a[blockIdx.x * 33] = 1; }", (32, 1, 1), (53248, 1, 1), {})
    total = sum(weight for _, weight in found)
    for length in (1, 3, 5, 7):
        for first in range(8):
            at = sum(weight for (x, _, _), weight in found if x * length % 8 in (first, (first + 1) % 8))
            assert abs(at / total - 0.25) < 0.001
