"""Atomics on floats in shared memory are loops of a load and a swap."""

from __future__ import annotations

import numpy as np
import pytest

from cudalint.hardware.swaps import swaps

_ALL = np.ones((1, 32), dtype=np.bool_)
_LANES = np.arange(32, dtype=np.int64)[None]


def test_lanes_of_their_own_take_one_pass() -> None:
    # A load of one wavefront, and a swap that brings two numbers for each lane: 61.4 million wavefronts of 20.5 million
    # passes in `scatterAdd` on an H200.
    found = swaps(4 * _LANES, _ALL, 4, 16)
    assert (found.passes[0], found.wavefronts[0], found.lanes[0]) == (1, 3, 32)


def test_lanes_of_one_number_get_through_one_by_one() -> None:
    # Pairs of lanes: 16 numbers, two passes of 32 and 16 lanes.
    found = swaps(4 * (_LANES // 2), _ALL, 4, 1)
    assert (found.passes[0], found.lanes[0]) == (2, 48)


@pytest.mark.parametrize(("warps", "measured"), [(4, 126.0)])
def test_warps_of_one_number_are_in_each_other_s_way(warps: int, measured: float) -> None:
    # `compute_final_sum_kernel` of HeCBench's `aop`: 1012 requests of 4 warps, two in each pass; 2018 wavefronts.
    found = swaps(0 * _LANES, _ALL, 8, warps)
    assert found.passes[0] == pytest.approx(measured, rel=0.1)
    assert 4 * found.wavefronts[0] == pytest.approx(2018, rel=0.1)
