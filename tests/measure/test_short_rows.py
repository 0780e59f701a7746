"""Rows of a launch that are shorter than it is wide."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from cudalint.measure.launched import misses_in_short_rows


@pytest.mark.parametrize(
    ("block", "grid", "pitch", "is_short"),
    [
        ((128, 1, 1), (4, 2, 1), 100, True),
        # Rows lie along z as well as along y.
        ((128, 1, 1), (4, 1, 2), 100, True),
        ((128, 1, 2), (4, 1, 1), 100, True),
        ((128, 1, 1), (4, 1, 2), 512, False),
        # There is one row.
        ((128, 1, 1), (4, 1, 1), 100, False),
    ],
)
def test_rows(block: tuple[int, int, int], grid: tuple[int, int, int], pitch: float, is_short: bool) -> None:
    batch: Any = SimpleNamespace(block=block, grid=[grid], numbers=[{"pitch": float(pitch)}])
    assert misses_in_short_rows([0], batch, {"pitch"}) is is_short
