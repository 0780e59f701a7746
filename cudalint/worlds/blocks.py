"""Which blocks of a grid are executed, and how many each of them stands for."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cudalint.execute.lanes import Extents

_ALONG = 4
"""Blocks along an axis that has others beside it: the first and its neighbour, one of those between, and the last."""


def blocks_of(grid: Extents) -> list[tuple[Extents, float]]:
    """Some blocks of a grid with the number of blocks that each of them stands for. Along each axis the first and the
    last stand for themselves, since borders are there, and those between are shared out. Neighbours are among them,
    which share what lies between blocks."""
    axes = [_along(extent) for extent in grid]
    found = []
    for x, y, z in itertools.product(*axes):
        found.append(((x[0], y[0], z[0]), x[1] * y[1] * z[1]))
    return found


def _along(extent: int) -> list[tuple[int, float]]:
    if extent <= _ALONG:
        return [(place, 1.0) for place in range(extent)]
    between = (extent - 2) / (_ALONG - 2)
    inner = [(1, between), *((extent * part // (_ALONG - 1), between) for part in range(2, _ALONG - 1))]
    return [(0, 1.0), *inner, (extent - 1, 1.0)]
