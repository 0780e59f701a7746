"""How much global memory a launch touches, and how often it comes back to it.

By how much the set of touched sectors grows from one turn, or one block, to the next tells how often a sector is
touched again. What is asked for again within a block comes from L1 if what lies in between fits there, what other
blocks ask for again comes from L2 if that fits there, and everything else from DRAM.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from cudalint.execute.memory import Allocation
from cudalint.execute.trace import Site as StatementSite
from cudalint.execute.trace import Trace
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.measure.requests import AccessSite, site_of
from cudalint.measure.work.asked import Requests
from cudalint.measure.work.lengths import Lengths
from cudalint.measure.work.sectors import WINDOW, Sectors, Site, lane_of

_MOST_SITES = 16
"""Accesses of one array in one nest of loops that are looked at."""
_MOST_LANES = 1 << 13
"""Of these together, in one turn."""
_MOST_TURNS = 2 * WINDOW
"""Of the innermost loops, that are kept of an access."""
_ANYWHERE = 1 << 30
"""Bytes of an array of which nobody says how large it is, where data chooses its elements."""

Nest = tuple[StatementSite, ...]


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
    groups: dict[tuple[Allocation, bool, Nest], list[tuple[AccessSite, Site]]] = {}
    for access, array, site in _sites(trace, lengths):
        nest = lengths.nests.around(access.node, access.stack)
        groups.setdefault((array, access.operation in ("load", "async-copy"), nest), []).append((access, site))
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
        chosen = [site for _, site in group[:: max(1, -(-len(group) // most))]]
        moving = [lane for site in chosen if (lane := lane_of(site, trace.lanes, row, size or _ANYWHERE)) is not None]
        if moving and times:
            found.append(_touched(array, is_load, Sectors(moving), times, levels, size, caches))
    return found


def _sites(trace: Trace, lengths: Lengths) -> list[tuple[AccessSite, Allocation, Site]]:
    """The accesses of global memory, with their executions by the turns that they belong to."""
    found: dict[tuple[AccessSite, Allocation], Site] = {}
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
        own = found.get((access, event.allocation))
        if own is None:
            own = found[access, event.allocation] = Site({})
        depth = len(lengths.nests.around(event.node, event.stack))
        if not depth or depth > len(now):
            own.events.setdefault((0,) * depth, event)
        elif now[depth - 1] < _MOST_TURNS:
            own.events.setdefault(tuple(now[:depth]), event)
    return [(access, array, own) for (access, array), own in found.items() if own.events]


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
    apart = fetched = unique
    of_grid = of_block
    axes = [level for level in levels if level.is_grid]
    growths = [(level.count, sectors.growth(level.number, True)) for level in axes]
    if not all(sectors.is_regular(level.number) for level in axes):
        growths = [(math.prod(level.count for level in axes), sectors.growth_of_blocks())]
    for count, part in growths:
        growth = 1 + (count - 1) * part
        of_grid *= count
        fetched *= count if fetched * SECTOR_BYTES > caches.l2 else growth
        apart *= growth
    share = asked / of_grid if of_grid else 0.0
    apart = _held(min(asked, apart * share), size, is_scattered)
    fetched = max(apart, min(asked, fetched * share))
    if (size or math.inf) <= caches.l2 or apart * SECTOR_BYTES <= caches.l2:
        fetched = apart
    return Touched(array, is_load, asked, passed if is_load else asked, apart, fetched)


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
