"""Grids that are rounded up to whole tiles, and what their last block does where a size is no multiple of a tile."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from cudalint.execute.lanes import Extents
from cudalint.measure.wrongs import Found
from cudalint.worlds.records import Batch

_MOST_FACTORS = 3


class Covering(NamedTuple):
    """Along one axis there are as many blocks as it takes to cover a size in tiles."""

    axis: int
    names: tuple[str, ...]
    """Whose product the size is."""
    tile: int
    rests: tuple[int, ...]
    """What is left over of the size in each world, if it is divided into tiles."""

    blocks: tuple[int, ...]
    """How many there are in each world."""

    @property
    def condition(self) -> str:
        """Under which nothing is."""
        product = " * ".join(self.names)
        return f"{product if len(self.names) == 1 else f'({product})'} % {self.tile} == 0"


def coverings(batch: Batch) -> list[Covering]:
    """All that the worlds of a launch agree with, those of fewer numbers first."""
    found: list[Covering] = []
    numbers = _whole_numbers(batch)
    for axis in range(3):
        blocks = [grid[axis] for grid in batch.grid]
        if len(set(blocks)) == 1:
            continue
        for count in range(1, min(_MOST_FACTORS, len(numbers)) + 1):
            own = list(_of_axis(batch.block, axis, blocks, numbers, count))
            found += own
            if own:
                break
    return found


def tail_of(found: Found, own: Sequence[Covering]) -> tuple[int, str | None] | None:
    """The world in which lanes of the last block are wrong, and nobody else ever is, with the condition under which all
    blocks stay inside, if it is one on one number. No world at all if it is no tail. It takes several blocks to tell
    the last one from the others."""
    worlds = [world for world in range(len(found.holds)) if all(each.blocks[world] > 1 for each in own)]
    if not any(found.holds[world] for world in worlds):
        return None
    for count in range(1, len(own) + 1):
        fitting = [each for each in itertools.combinations(own, count) if _explain(found, worlds, each)]
        if fitting:
            told = next(world for world in worlds if found.holds[world])
            is_shown = any(found.holds[world] is False and not _is_left_over(world, fitting[0]) for world in worlds)
            covering = fitting[0][0]
            is_plain = len(fitting) == 1 and count == 1 and len(covering.names) == 1
            return told, covering.condition if is_shown and is_plain else None
    return None


def _explain(found: Found, worlds: Iterable[int], own: Sequence[Covering]) -> bool:
    """Whether lanes are only wrong in worlds in which one of these sizes is not covered in whole tiles, and in the last
    block along its axis."""
    return all(
        any(each.rests[world] and found.only_in_last[world][each.axis] for each in own)
        for world in worlds
        if found.holds[world]
    )


def _is_left_over(world: int, own: Iterable[Covering]) -> bool:
    return any(covering.rests[world] for covering in own)


def _whole_numbers(batch: Batch) -> dict[str, list[int]]:
    """Those that differ between the worlds."""
    found = {}
    for name in batch.worlds[0] if batch.worlds else ():
        values = [world.get(name) for world in batch.numbers]
        whole = [value for value in values if isinstance(value, int) and not isinstance(value, bool) and value > 0]
        if len(whole) == len(values) and len(set(whole)) > 1:
            found[name] = whole
    return found


def _of_axis(
    block: Extents, axis: int, blocks: Sequence[int], numbers: dict[str, list[int]], count: int
) -> Iterator[Covering]:
    for names in itertools.combinations(numbers, count):
        sizes = [math.prod(each) for each in zip(*(numbers[name] for name in names), strict=True)]
        tile = _tile(sizes, blocks, (block[axis], math.prod(block)))
        if tile is not None:
            yield Covering(axis, names, tile, tuple(size % tile for size in sizes), tuple(blocks))


def _tile(sizes: Sequence[int], blocks: Sequence[int], threads: Sequence[int]) -> int | None:
    """The tile for which each number of blocks is the size's quotient, rounded up: one that threads go into evenly, or
    that goes into them."""
    pairs = list(zip(sizes, blocks, strict=True))
    least = max(-(-size // own) for size, own in pairs)
    most = min(((size - 1) // (own - 1) for size, own in pairs if own > 1), default=0)
    for own in threads:
        multiple = -(-least // own) * own
        if multiple <= most:
            return multiple
    return next((tile for tile in range(least, min(most, max(threads)) + 1) if max(threads) % tile == 0), None)
