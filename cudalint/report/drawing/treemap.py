"""Areas that are as large as figures, laid out to be as square as can be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Area(NamedTuple):
    x: float
    y: float
    width: float
    height: float


def treemap(sizes: Sequence[float], width: float, height: float) -> list[Area]:
    """One for each size, the largest first (they have to be in that order), which fill the whole between them: each
    row is begun along the shorter side of what is left, and takes sizes for as long as its areas become squarer."""
    if not sizes or sum(sizes) <= 0:
        return []
    scale = width * height / sum(sizes)
    left = Area(0.0, 0.0, width, height)
    areas: list[Area] = []
    row: list[float] = []
    for size in (scale * each for each in sizes):
        side = min(left.width, left.height)
        if row and _worst([*row, size], side) > _worst(row, side):
            left = _lay(row, left, areas)
            row = []
        row.append(size)
    _lay(row, left, areas)
    return areas


def _worst(row: Sequence[float], side: float) -> float:
    """How much longer than wide the least square one of a row is."""
    depth = sum(row) / side if side > 0 else 0.0
    least, most = min(row), max(row)
    if depth <= 0 or least <= 0:
        return float("inf")
    return max(depth * depth / least, most / (depth * depth))


def _lay(row: Sequence[float], left: Area, areas: list[Area]) -> Area:
    """Puts a row along the shorter side, and returns what is left beside it."""
    side = min(left.width, left.height)
    depth = sum(row) / side if side > 0 else 0.0
    at = 0.0
    for size in row:
        length = size / depth if depth > 0 else 0.0
        if left.width >= left.height:
            areas.append(Area(left.x, left.y + at, depth, length))
        else:
            areas.append(Area(left.x + at, left.y, length, depth))
        at += length
    if left.width >= left.height:
        return Area(left.x + depth, left.y, max(0.0, left.width - depth), left.height)
    return Area(left.x, left.y + depth, left.width, max(0.0, left.height - depth))
