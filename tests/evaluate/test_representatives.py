"""Blocks that stand for all of a grid, also where it matters how the coordinates of a block stand to each other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from evaluating import evaluate, only
from hypothesis import given
from hypothesis import strategies as st

from cudalint.evaluate.requests.representatives import scattered

_EXTENTS = st.tuples(*[st.integers(1, 3) | st.integers(1, 10_000_000)] * 3)


@given(_EXTENTS, st.integers(40, 300))
def test_scattered_blocks_stand_for_the_grid(grid: tuple[int, int, int], count: int) -> None:
    blocks, weights = scattered(grid, count)
    assert weights.sum() == pytest.approx(math.prod(grid))
    # 8 corners, and of 12 edges and 6 faces 3 and 9 each.
    assert len(blocks) == len(weights) <= max(count, count // 2 + 8 + 12 * 3 + 6 * 9)
    assert (blocks >= 0).all() and (blocks < np.array(grid)).all()


@given(_EXTENTS)
def test_corners_stand_for_themselves(grid: tuple[int, int, int]) -> None:
    blocks, weights = scattered(grid, 200)
    for corner in ((0, 0, 0), tuple(extent - 1 for extent in grid)):
        [place] = np.flatnonzero((blocks == corner).all(axis=1))
        assert weights[place] == 1


def test_rows_of_a_triangle_in_a_grid_along_x() -> None:
    """Row t of 1024 has t + 1 active threads: ceil(n / 8) sectors of ceil(n / 32) requests, so over n = 1 to 1024
    8 * (1 + ... + 128) = 66,048 sectors of 32 * (1 + ... + 32) = 16,896 requests: 3.909 (3.91 was measured on an H200
    with the causal attention scores of karpathy/llm.c)."""
    body = "int i = blockIdx.x * 32 + t, row = i / 1024, column = i % 1024; if (column <= row % 1024) a[i] = 1;"
    result = only(evaluate(body, grid=(32 * 1024 * 96, 1, 1)))
    assert result.sectors_per_request == pytest.approx(66_048 / 16_896, rel=0.02)


def test_tiles_on_the_diagonal() -> None:
    """In 8 x 8 tiles of which those above the diagonal do nothing, 28 of 36 have all lanes (4 sectors), and 8 on the
    diagonal have 8 lanes (1 sector)."""
    body = "if (blockIdx.y <= blockIdx.x && (blockIdx.x > blockIdx.y || t < 8)) a[t] = 1;"
    result = only(evaluate(body, grid=(8, 8, 96)))
    assert result.sectors_per_request == pytest.approx((28 * 4 + 8 * 1) / 36, rel=0.03)


def test_one_block_at_the_end_does_not_count_twice() -> None:
    """The last of 384 blocks runs its loop 1,000 times with one lane, the others 10 times with all: 383 * 10 requests
    of 4 sectors and 1,000 of 1."""
    length = "int i = blockIdx.x % 384, count = i == 383 ? 1000 : 10;"
    body = f"{length} for (int j = 0; j < count; j++) if (i < 383 || t == 0) a[t + 32 * j] = j;"
    result = only(evaluate(body, grid=(384, 1, 1)))
    assert result.sectors_per_request == pytest.approx((383 * 10 * 4 + 1000) / (383 * 10 + 1000), rel=0.02)
