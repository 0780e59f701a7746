"""Which of many blocks or iterations are evaluated, and how many each of them stands for."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_EVEN = 1.2207440846057596 ** -np.arange(1.0, 4.0)
"""Multiples of it fill a cube as evenly as few points can (M. Roberts, "The Unreasonable Effectiveness of Quasirandom
Sequences": the generalised golden ratio for three dimensions, the root of x^4 = x + 1)."""
_ON_EDGES = 3
"""Blocks that are drawn along an edge of the grid; on a face, its square."""


def picks(extent: int, count: int) -> list[tuple[int, float]]:
    """Representatives of 0..extent-1 with weights: the ends stand for themselves, interior ones for the rest."""
    if extent <= count:
        return [(i, 1.0) for i in range(extent)]
    if count < 3:
        # Too few to show both ends: what lies in between stands for most.
        first = [(0, 1.0)] if count == 2 else []
        return [*first, (extent // 2, float(extent - len(first)))]
    inner = count - 2
    start = 1 + (extent - 2 - inner) // 2
    weight = (extent - 2) / inner
    return [(0, 1.0), *((start + i, weight) for i in range(inner)), (extent - 1, 1.0)]


def picks_between(extent: int, count: int, edges: Sequence[int]) -> list[tuple[int, float]]:
    """Representatives of 0..extent-1 with weights, the given ones and one between any two of them among those: these
    and the ends stand for themselves as far as others can stand for what lies between."""
    special = sorted({0, extent - 1, *edges})
    between = {(a + b) // 2 for a, b in itertools.pairwise(special) if b - a > 1}
    chosen = sorted({block for block, _ in picks(extent, count)} | between | set(special))
    weights = dict.fromkeys(chosen, 1.0)
    for a, b in itertools.pairwise(chosen):
        takers = [block for block in (a, b) if block not in special] or [a, b]
        for taker in takers:
            weights[taker] += (b - a - 1) / len(takers)
    return list(weights.items())


def spread(
    trips: NDArray[np.int64], count: int, weights: NDArray[np.float64], random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Representatives of the iterations of a loop that each row makes `trips` times, with the rows that they belong to
    and weights that add up to the row's for each iteration: the ends, the second where there is room (to see what one
    step does), and one drawn from each of equal parts in between. At least one, if only of the weight 0.

    They are drawn (always the same ones) so that over many rows every remainder comes up: with fixed ones an address
    that grows by one element per iteration might only ever be seen aligned.
    """
    parts: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []
    changes = (np.flatnonzero(trips[1:] != trips[:-1]) + 1).tolist()
    for first, end in itertools.pairwise((0, *changes, len(trips))):
        extent = int(trips[first])
        if extent:
            chosen, share = _of_one_loop(extent, count, end - first, random)
            where = np.arange(first, end).repeat(chosen.shape[1])
            parts.append((where, chosen.ravel(), (share * weights[first:end, None]).ravel()))
    if not parts:
        return np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), np.zeros(1)
    where, iterations, shares = (np.concatenate(column) for column in zip(*parts, strict=True))
    return where, iterations, shares


def _of_one_loop(
    extent: int, count: int, rows: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """[rows, iterations] those that stand for a loop of one length, and [iterations] how many each stands for."""
    if extent <= count or count < 3:
        fixed = picks(extent, count)
        return np.tile([place for place, _ in fixed], (rows, 1)), np.array([weight for _, weight in fixed])
    start = 2 if count > 4 else 1
    inner = count - start - 1
    weight = (extent - start - 1) / inner
    drawn = start + ((np.arange(inner) + random.random((rows, inner))) * weight).astype(np.int64)
    ends = np.ones((rows, 1), dtype=np.int64)
    chosen = np.hstack([ends * np.arange(start), drawn, ends * (extent - 1)])
    return chosen, np.array([1.0] * start + [weight] * inner + [1.0])


def scattered(grid: Sequence[int], count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """About `count` blocks from all over the grid as [blocks, 3], with weights: all of a small one.

    The corners stand for themselves, and edges and faces have some of their own: there, a program often does something
    else, and few blocks that were drawn at random would show too much or nothing of it.
    """
    total = math.prod(grid)
    if total <= count:
        linear = np.arange(total)
        x, y = linear % grid[0], linear // grid[0]
        return np.stack([x, y % grid[1], y // grid[1]], axis=1).astype(np.int64), np.ones(total)
    parts = list(itertools.product(*(_parts(extent) for extent in grid)))
    inner = parts.pop(max(range(len(parts)), key=lambda i: sum(length > 1 for _, length in parts[i])))
    drawn = [_drawn(part, _ON_EDGES ** sum(length > 1 for _, length in part)) for part in parts]
    rest = max(count // 2, count - sum(len(blocks) for blocks, _ in drawn))
    drawn.append(_drawn(inner, rest))
    return np.concatenate([blocks for blocks, _ in drawn]), np.concatenate([weights for _, weights in drawn])


def _parts(extent: int) -> list[tuple[int, int]]:
    """The start and the length of what lies between the ends of an axis, and of the ends."""
    return [(0, extent)] if extent == 1 else [(0, 1), *([(1, extent - 2)] if extent > 2 else []), (extent - 1, 1)]


def _drawn(part: Sequence[tuple[int, int]], count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """At most `count` blocks of a part of the grid, spread evenly."""
    starts, lengths = (np.array(numbers, dtype=np.int64) for numbers in zip(*part, strict=True))
    size = math.prod(length for _, length in part)
    number = min(count, size)
    # Axis by axis: the number of blocks may be more than a machine word can tell.
    places = np.outer(np.arange(number) + 0.5, _EVEN) % 1.0
    return starts + (places * lengths).astype(np.int64), np.full(number, size / number)
