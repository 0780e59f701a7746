"""The sectors of global memory that the accesses of one nest of loops touch, and by how much they grow from turn to
turn and from block to block.

A turn moves each lane's address by what it moved it from one turn to the next that was executed, and a block by what
it moved it from one block to another: so neighbours are looked at that were not executed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from cudalint.execute.lanes import Lanes
from cudalint.execute.trace import AccessEvent
from cudalint.execute.values import Data
from cudalint.hardware.requests import WARP_LANES, distinct
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.measure.arrays import Integers

WINDOW = 8
"""Turns of a loop after the first that is looked at."""
_NEIGHBOURS = 2
"""Blocks along each axis after the one that is looked at."""
_FEW = 4
"""Accesses, of which more turns are looked at."""
_BITS = 44
_SECTORS = (1 << _BITS) - 1
"""Integers of sectors within so many bits."""
_ODD = np.int64(0x5851F42D4C957F2D)

Vector = tuple[int, ...]
"""The numbers of the turns of all loops around, the outermost first."""


class Site(Struct, eq=False):
    """The executions of one access, by the turns that they belong to."""

    events: dict[Vector, AccessEvent]


class Lane(Struct, frozen=True, eq=False):
    """One execution of an access by a block, and how it moves. n lanes that are active."""

    offsets: Integers
    warps: Integers
    bytes: int
    turns: tuple[Integers | None, ...]
    """By how many bytes the next turn of each loop moves it; None where that is not known."""
    axes: tuple[Integers | None, ...]
    is_scattered: bool
    """Data decides where it is: the offsets are drawn."""
    blocks: tuple[Integers, ...] = ()
    """The offsets in all blocks that were executed."""


class Sectors(Struct, frozen=True, eq=False):
    """Of some accesses in one block and one turn of each loop."""

    lanes: Sequence[Lane]

    @property
    def is_scattered(self) -> bool:
        return any(each.is_scattered for each in self.lanes)

    def asked(self) -> float:
        """By the warps of the block."""
        by_warp = ((own.warps[at] << _BITS) | place for own in self.lanes for at, place in _places(own))
        return float(sum(len(_each(numbers)) for numbers in by_warp))

    def requests(self) -> float:
        return float(sum(len(distinct(np.sort(own.warps))) for own in self.lanes))

    def size(self) -> float:
        return float(len(self._at([None])[0]))

    def growth(self, level: int, is_grid: bool) -> float:
        """By which part of itself the set grows from one turn of a loop, or from one block, to the next."""
        if not all(own.is_scattered or (own.axes if is_grid else own.turns)[level] is not None for own in self.lanes):
            return 1.0
        steps = _NEIGHBOURS if is_grid else self._window()
        return _growth([own for own in self._at([(level, is_grid, step) for step in range(steps + 1)]) if len(own)])

    def is_regular(self, level: int) -> bool:
        """Whether it is known how blocks along an axis of the grid move the accesses."""
        return all(own.is_scattered or own.axes[level] is not None for own in self.lanes)

    def growth_of_blocks(self) -> float:
        """The same from one block that was executed to another, wherever these are."""
        number = min((len(own.blocks) for own in self.lanes if not own.is_scattered), default=0)
        return _growth([
            _each(np.concatenate([own.blocks[block] // SECTOR_BYTES & _SECTORS for own in self.lanes if own.blocks]))
            for block in range(number)
        ])  # fmt: skip

    def _window(self) -> int:
        """As many turns as a sector has elements: a thread that goes on by one comes to the next sector once. Not where
        there are many accesses."""
        if len(self.lanes) > _FEW:
            return WINDOW
        return max(WINDOW, SECTOR_BYTES // max(1, min(each.bytes for each in self.lanes)))

    def _at(self, moves: Sequence[tuple[int, bool, int] | None]) -> list[Integers]:
        """The distinct sectors after each move."""
        found = []
        for move in moves:
            parts = [place for own in self.lanes for _, place in _places(own, move)]
            found.append(_each(np.concatenate(parts)) if parts else np.zeros(0, np.int64))
        return found


def _places(own: Lane, move: tuple[int, bool, int] | None = None) -> list[tuple[Any, Integers]]:
    """The sectors of an access after a move, with the lanes that they belong to: those of the first bytes, and those of
    the last where they are others."""
    offsets = own.offsets
    if move is not None and move[2]:
        level, is_grid, steps = move
        if own.is_scattered:
            offsets = (offsets * _ODD + steps * (2 * level + is_grid + 1)) % max(1, int(offsets.max()) + 1)
        else:
            by = (own.axes if is_grid else own.turns)[level]
            offsets = offsets if by is None else offsets + steps * by
    first = offsets // SECTOR_BYTES
    last = (offsets + own.bytes - 1) // SECTOR_BYTES
    found: list[tuple[Any, Integers]] = [(slice(None), first & _SECTORS)]
    crossing = np.flatnonzero(last != first)
    if len(crossing):
        found.append((crossing, last[crossing] & _SECTORS))
    return found


def lane_of(site: Site, lanes: Lanes, row: int, room: int) -> Lane | None:
    """The execution of an access by one block in which most lanes are active, and how it moves. `room`: the bytes that
    there are for what data chooses."""
    vector = max(site.events, key=lambda each: int(_mask(site.events[each], row).sum()))
    event = site.events[vector]
    mask = _mask(event, row)
    active = np.flatnonzero(mask)
    if not len(active):
        return None
    warps = active // WARP_LANES
    if isinstance(event.offset, Data):
        drawn = ((active + 1) * _ODD + hash((event.node.span.line, event.node.span.column)) >> 8) % max(1, room)
        return Lane(drawn // event.bytes * event.bytes, warps, event.bytes, (None,) * len(vector), (None,) * 3, True)
    offsets = _offsets(event, row, active)
    turns = tuple(_step(site, vector, level, row, active, offsets) for level in range(len(vector)))
    axes, blocks = _in_blocks(event, lanes, row, active, offsets)
    return Lane(offsets, warps, event.bytes, turns, axes, False, blocks)


def _mask(event: AccessEvent, row: int) -> Any:
    return event.mask[row if len(event.mask) > 1 else 0]


def _offsets(event: AccessEvent, row: int, active: Any) -> Integers:
    offset = event.offset
    if type(offset) is not np.ndarray:
        return np.full(len(active), int(offset), np.int64)
    own = offset[row if len(offset) > 1 else 0]
    found: Integers = np.broadcast_to(own if len(own) == 1 else own[active], len(active)).astype(np.int64)
    return found


def _step(site: Site, vector: Vector, level: int, row: int, active: Any, offsets: Integers) -> Integers | None:
    for by in (1, -1):
        other = site.events.get((*vector[:level], vector[level] + by, *vector[level + 1 :]))
        if other is not None and not isinstance(other.offset, Data):
            moved: Integers = (_offsets(other, row, active) - offsets) * by
            return moved
    return None


def _in_blocks(
    event: AccessEvent, lanes: Lanes, row: int, active: Any, offsets: Integers
) -> tuple[tuple[Integers | None, ...], tuple[Integers, ...]]:
    """By how many bytes the next block along each axis moves an access, where all blocks that were executed say the
    same; and the offsets in these."""
    begin = row // lanes.blocks * lanes.blocks
    rows = [other for other in range(begin, begin + lanes.blocks) if np.all(_mask(event, other)[active])]
    others = tuple(_offsets(event, other, active) for other in rows)
    apart = np.array([lanes.places[other] for other in rows], np.int64) - np.array(lanes.places[row], np.int64)
    moved = np.array(others) - offsets
    fitted = np.linalg.lstsq(apart.astype(np.float64), moved.astype(np.float64), rcond=None)[0]
    steps = np.rint(fitted).astype(np.int64)
    if not np.array_equal(np.matmul(apart, steps), moved):
        return (None,) * 3, others
    varies = [bool(apart[:, axis].any()) for axis in range(3)]
    return tuple(steps[axis] if varies[axis] else None for axis in range(3)), others


def _growth(sets: Sequence[Integers]) -> float:
    """By which part of itself a set grows on average with each one that joins it."""
    if len(sets) < 2:
        return 1.0
    mean = sum(map(len, sets)) / len(sets)
    together = len(_each(np.concatenate(sets)))
    return float(min(1.0, max(0.0, (together - mean) / ((len(sets) - 1) * mean))))


def _each(numbers: Integers) -> Integers:
    """The different ones, ascending."""
    return distinct(np.sort(numbers))
