"""How much global memory a launch touches, and how often it comes back to it.

By how much the set of touched sectors grows from one turn, or one block, to the next tells how often a sector is
touched again. What is asked for again within a block comes from L1 if what lies in between fits there, what other
blocks ask for again comes from L2 if that fits there, and everything else from DRAM.

The sectors of global memory that the accesses of one nest of loops touch, and by how much they grow from turn to
turn and from block to block.

A turn moves each lane's address by what it moved it from one turn to the next that was executed, and a block by what
it moved it from one block to another: so neighbours are looked at that were not executed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from cudalint.execute.lanes import Lanes
from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent, Site, Trace
from cudalint.execute.values import Data
from cudalint.hardware.requests import WARP_LANES, distinct
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.measure.arrays import Integers
from cudalint.measure.requests import AccessSite, site_of
from cudalint.measure.work.lengths import Lengths, Requests

WINDOW = 8
"""Turns of a loop after the first that is looked at."""
_MOST_SITES = 16
"""Accesses of one array in one nest of loops that are looked at."""
_MOST_LANES = 1 << 13
"""Of these together, in one turn."""
_MOST_TURNS = 2 * WINDOW
"""Of the innermost loops, that are kept of an access."""
_ANYWHERE = 1 << 30
"""Bytes of an array of which nobody says how large it is, where data chooses its elements."""

Nest = tuple[Site, ...]
Vector = tuple[int, ...]
"""The numbers of the turns of all loops around, the outermost first."""
ByTurn = dict[Vector, AccessEvent]
"""The executions of one access, by the turns that they belong to."""


class Caches(Struct, frozen=True):
    """How much is kept, in bytes."""

    l1: float
    """For each block."""
    l2: float


class Touched(Struct, frozen=True):
    """What the accesses of one kind to one array come to in the whole launch, in sectors."""

    array: Allocation
    is_load: bool
    asked: float
    """By warps, of L1."""
    passed: float
    """On to L2."""
    distinct: float
    fetched: float
    """From DRAM, if these were alone."""


class _Level(Struct, frozen=True):
    """A loop, or an axis of the grid."""

    number: int
    count: float
    """How often the body is executed, or blocks."""
    is_grid: bool


def touched(
    trace: Trace, requests: Mapping[AccessSite, Requests], lengths: Lengths, grid: Sequence[int], caches: Caches,
    sizes: Mapping[Allocation, int], world: int = 0,
) -> list[Touched]:  # fmt: skip
    """All accesses to global memory of one world, by array and nest of loops. `sizes` are the bytes of arrays, as far
    as they are known."""
    groups: dict[tuple[Allocation, bool, Nest], list[tuple[AccessSite, ByTurn]]] = {}
    for access, array, by_turn in _sites(trace, lengths):
        nest = lengths.nests.around(access.node, access.stack)
        groups.setdefault((array, access.operation in ("load", "async-copy"), nest), []).append((access, by_turn))
    row = _row(trace, world)
    found: list[Touched] = []
    for (array, is_load, nest), group in groups.items():
        accesses = [access for access, _ in group]
        times = sum(own.number for each in accesses if (own := requests.get(each)) is not None)
        levels = [
            *(_Level(depth, lengths.turns(nest[depth]), False) for depth in reversed(range(len(nest)))),
            *(_Level(axis, float(extent), True) for axis, extent in enumerate(grid) if extent > 1),
        ]
        size = sizes.get(array)
        most = max(1, min(_MOST_SITES, _MOST_LANES // trace.lanes.lanes))
        chosen = [by_turn for _, by_turn in group[:: max(1, -(-len(group) // most))]]
        moving = [lane for each in chosen if (lane := lane_of(each, trace.lanes, row, size or _ANYWHERE)) is not None]
        if moving and times:
            found.append(_touched(array, is_load, Sectors(moving), times, levels, size, caches))
    return found


def _sites(trace: Trace, lengths: Lengths) -> list[tuple[AccessSite, Allocation, ByTurn]]:
    """The accesses of global memory, with their executions by the turns that they belong to."""
    found: dict[tuple[AccessSite, Allocation], ByTurn] = {}
    now: list[int] = []
    turns = iter(trace.turns)
    upcoming = next(turns, None)
    for position, event in enumerate(trace.accesses):
        while upcoming is not None and upcoming.before <= position:
            now[upcoming.depth - 1 :] = [upcoming.number]
            upcoming = next(turns, None)
        if event.allocation.space != "global" or not event.bytes:
            continue
        access = site_of(event)
        own = found.setdefault((access, event.allocation), {})
        depth = len(lengths.nests.around(event.node, event.stack))
        if not depth or depth > len(now):
            own.setdefault((0,) * depth, event)
        elif now[depth - 1] < _MOST_TURNS:
            own.setdefault(tuple(now[:depth]), event)
    return [(access, array, own) for (access, array), own in found.items() if own]


def _row(trace: Trace, world: int) -> int:
    """A block that stands for many, of those that do something."""
    lanes = trace.lanes
    rows = slice(world * lanes.blocks, (world + 1) * lanes.blocks)
    active = np.zeros(lanes.blocks)
    seen: set[int] = set()
    for event in trace.accesses:
        if id(event.mask) not in seen:
            seen.add(id(event.mask))
            active += np.broadcast_to(event.mask, (lanes.rows, lanes.lanes))[rows].sum(axis=1)
    weight = lanes.weight[rows, 0] if isinstance(lanes.weight, np.ndarray) else np.ones(lanes.blocks)
    return rows.start + int(np.argmax(active * weight))


def _touched(
    array: Allocation, is_load: bool, sectors: Sectors, warps: float, levels: Sequence[_Level], size: int | None,
    caches: Caches,
) -> Touched:  # fmt: skip
    requests, is_scattered = sectors.requests(), sectors.is_scattered
    asked = warps * sectors.asked() / requests
    block = unique = sectors.size()
    times = 1.0
    for level in levels:
        if level.is_grid or not level.count:
            continue
        growth = 1 + (max(1.0, level.count) - 1) * sectors.growth(level.number, False)
        times *= level.count
        block *= level.count if block * SECTOR_BYTES > caches.l1 else growth
        unique *= growth
    unique = _held(unique, size, is_scattered)
    block = max(_held(block, size, is_scattered) if (size or math.inf) <= caches.l1 else block, unique)
    of_block = sectors.asked() * times
    passed = asked * min(1.0, block / of_block)
    different = fetched = unique
    of_grid = of_block
    axes = [level for level in levels if level.is_grid]
    growths = [(level.count, sectors.growth(level.number, True)) for level in axes]
    if not all(sectors.is_regular(level.number) for level in axes):
        growths = [(math.prod(level.count for level in axes), sectors.growth_of_blocks())]
    for count, part in growths:
        growth = 1 + (count - 1) * part
        of_grid *= count
        fetched *= count if fetched * SECTOR_BYTES > caches.l2 else growth
        different *= growth
    share = asked / of_grid if of_grid else 0.0
    different = _held(min(asked, different * share), size, is_scattered)
    fetched = max(different, min(asked, fetched * share))
    if (size or math.inf) <= caches.l2 or different * SECTOR_BYTES <= caches.l2:
        fetched = different
    return Touched(array, is_load, asked, passed if is_load else asked, different, fetched)


def _held(sectors: float, size: int | None, is_scattered: bool) -> float:
    """At most as many distinct sectors as the array has; of places that data chooses, some are chosen twice."""
    if size is None:
        return sectors
    room = max(1.0, size / SECTOR_BYTES)
    return room * -math.expm1(-sectors / room) if is_scattered else min(sectors, room)


class Moved(Struct):
    """Bytes of one array."""

    l2: float = 0.0
    dram: float = 0.0
    through: float = 0.0
    """To and from DRAM, with what is written there only after the kernel."""


class Traffic(Struct, frozen=True):
    """Of global memory in the whole launch, in bytes."""

    l2: float
    read: float
    """Distinct sectors that are read."""
    written: float
    dram: float
    through: float
    """To and from DRAM, with what is written there only after the kernel."""
    arrays: Mapping[str, Moved] = {}
    """The part of each array in what reaches L2 and DRAM."""


def traffic_of(found: Sequence[Touched], l2: float) -> Traffic:
    """What reaches L2 and DRAM: all stores reach L2, where the last that were written stay."""
    read, written = _by_array(found, is_load=True), _by_array(found, is_load=False)
    fetched = sum(read.values()) * SECTOR_BYTES
    distinct = sum(written.values()) * SECTOR_BYTES
    at_end = max(0.0, distinct - _KEPT * l2)
    arrays: dict[str, Moved] = {}
    for each in found:
        own = arrays.setdefault(each.array.name, Moved())
        own.l2 += each.passed * SECTOR_BYTES
        again = max(0.0, each.fetched - each.distinct) * SECTOR_BYTES if each.is_load else 0.0
        own.through += again
        own.dram += again
    for sums, share in ((read, 1.0), (written, at_end / distinct if distinct else 0.0)):
        for array, sectors in sums.items():
            arrays[array.name].dram += share * sectors * SECTOR_BYTES
            arrays[array.name].through += sectors * SECTOR_BYTES
    again = sum(max(0.0, each.fetched - each.distinct) for each in found if each.is_load) * SECTOR_BYTES
    return Traffic(
        l2=sum(each.passed for each in found) * SECTOR_BYTES,
        read=fetched,
        written=distinct,
        dram=fetched + again + at_end,
        through=fetched + again + distinct,
        arrays=arrays,
    )


_KEPT = 0.4
"""Of L2, what is written and not yet in DRAM when a kernel ends, as measured on an H200."""


def _by_array(found: Sequence[Touched], is_load: bool) -> Mapping[Allocation, float]:
    """Distinct sectors of each array: its accesses in different loops mostly touch the same."""
    sums: dict[Allocation, float] = {}
    for each in found:
        if each.is_load is is_load:
            sums[each.array] = max(sums.get(each.array, 0.0), each.distinct)
    return sums


# --- sectors, and by how much they grow from turn to turn ----------------------------------------------


_NEIGHBOURS = 2
"""Blocks along each axis after the one that is looked at."""
_FEW = 4
"""Accesses, of which more turns are looked at."""
_BITS = 44
_SECTORS = (1 << _BITS) - 1
"""Integers of sectors within so many bits."""
_ODD = np.int64(0x5851F42D4C957F2D)



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


def lane_of(executions: ByTurn, lanes: Lanes, row: int, room: int) -> Lane | None:
    """The execution of an access by one block in which most lanes are active, and how it moves. `room`: the bytes that
    there are for what data chooses."""
    vector = max(executions, key=lambda each: int(_mask(executions[each], row).sum()))
    event = executions[vector]
    mask = _mask(event, row)
    active = np.flatnonzero(mask)
    if not len(active):
        return None
    warps = active // WARP_LANES
    if isinstance(event.offset, Data):
        drawn = ((active + 1) * _ODD + hash((event.node.span.line, event.node.span.column)) >> 8) % max(1, room)
        return Lane(drawn // event.bytes * event.bytes, warps, event.bytes, (None,) * len(vector), (None,) * 3, True)
    offsets = _offsets(event, row, active)
    turns = tuple(_step(executions, vector, level, row, active, offsets) for level in range(len(vector)))
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


def _step(
    executions: ByTurn, vector: Vector, level: int, row: int, active: Any, offsets: Integers
) -> Integers | None:
    for by in (1, -1):
        other = executions.get((*vector[:level], vector[level] + by, *vector[level + 1 :]))
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
    distances = np.array([lanes.places[other] for other in rows], np.int64) - np.array(lanes.places[row], np.int64)
    moved = np.array(others) - offsets
    fitted = np.linalg.lstsq(distances.astype(np.float64), moved.astype(np.float64), rcond=None)[0]
    steps = np.rint(fitted).astype(np.int64)
    if not np.array_equal(np.matmul(distances, steps), moved):
        return (None,) * 3, others
    varies = [bool(distances[:, axis].any()) for axis in range(3)]
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
