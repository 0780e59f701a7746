"""Which sectors of global memory a launch touches, and how often it comes back to them.

One block in the middle of the grid is looked at, with some iterations of its loops that follow one another and some of
its neighbours: by how much the set of touched sectors grows from one to the next tells how often a sector is touched
again. What is asked for again within a block comes from L1 if what lies in between fits there, what other blocks ask
for again comes from L2 if that fits there, and everything else from DRAM.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.edges import of_first_turns
from cudalint.evaluate.requests.views import LaunchView
from cudalint.evaluate.work.executions import Meter
from cudalint.hardware.requests import WARP_LANES, distinct
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.interpreter.device.events import AccessEvent, Loop
from cudalint.interpreter.device.values import Allocation
from cudalint.measure.work.memory import Caches, Moved, Traffic
from cudalint.values.numeric import Rows

_WINDOW = 8
"""Iterations of a loop after the first that is looked at."""
_NEIGHBOURS = 2
"""Blocks along each axis after the one in the middle."""
_MOST_EVENTS = 16
"""Accesses of one array in one nest of loops that are looked at."""
_MOST_LANES = 1 << 16
"""Rows times threads that are looked at for them."""
_LEVELS_OF_GRID = 3


class Touched(Struct, frozen=True):
    """What the accesses of one kind to one array come to in the whole launch, in sectors."""

    array: object
    name: str
    """Of the array."""
    is_load: bool
    asked: float
    """By warps, of L1."""
    passed: float
    """On to L2."""
    distinct: float
    fetched: float
    """From DRAM, if these were alone."""
    size: float | None
    """Of the array, where that is known."""


class _Level(Struct, frozen=True):
    """A loop, or an axis of the grid."""

    rows: slice
    """Of the plan: those that move along it alone."""
    count: float
    """How often the body is executed, or blocks."""
    is_grid: bool


class Plan(Struct, frozen=True):
    """The rows in which the accesses of one nest of loops are looked at: the first is where all others start from."""

    rows: Rows
    levels: tuple[_Level, ...]
    """Innermost loop first, then the axes of the grid."""


def touched(events: Sequence[AccessEvent], view: LaunchView, meter: Meter, caches: Caches) -> list[Touched]:
    """All accesses to global memory of one execution, by array."""
    plans: dict[object, Plan] = {}
    groups: dict[tuple[object, ...], list[AccessEvent]] = {}
    for event in events:
        if event.target.space in ("global", "generic") and event.left_out is None and not event.along:
            key = (event.target.memory, event.operation == "load", *event.context.nest)
            groups.setdefault(key, []).append(event)
    found: list[Touched] = []
    for key, group in groups.items():
        grid, window = _working(group, view), _window(group)
        nest = (*key[2:], *grid, window)
        if nest not in plans:
            plans[nest] = plan_of(view, group[0].context.loops, grid, window)
        plan = plans[nest]
        placed = [event for event in group if is_placed(event, plan.rows)]
        if placed:
            found += _touched_by(placed, plan, view, meter, caches)
    return found


def is_placed(event: AccessEvent, rows: Rows) -> bool:
    """Whether all that the access depends on has a number: the counter of a loop that is over has none."""
    on = dependence(event.context, event.offset, rows.graph)
    return all(map(rows.fixes, (on.value, *on.known)))


def _working(group: Sequence[AccessEvent], view: LaunchView) -> tuple[int, ...]:
    """The grid as far as it has work for some accesses: host code may launch it for more than there is to do."""
    found = [0, 0, 0]
    places = ((dependence(e.context, e.offset, view.graph).known, e.context.loops) for e in group)
    for conditions, loops in dict.fromkeys(places):
        edges = view.edges((*conditions, *of_first_turns(view.graph, loops)))
        own = (ends[0] + 1 if len(ends) == 2 else extent for ends, extent in zip(edges, view.quick().grid, strict=True))
        found = [max(pair) for pair in zip(found, own, strict=True)]
    return tuple(found)


_FEW = 4


def _window(group: Sequence[AccessEvent]) -> int:
    """As many iterations as a sector has elements: a thread that goes on by one comes to the next sector once. Not
    where there are many accesses, of which fewer could be looked at then."""
    return _WINDOW if len(group) > _FEW else max(_WINDOW, SECTOR_BYTES // max(1, min(event.bytes for event in group)))


def plan_of(view: LaunchView, loops: Sequence[Loop], grid: Sequence[int] = (), window: int = _WINDOW) -> Plan:
    """`grid` is that of the launch if none is given, `window` the iterations of the innermost loop after the first."""
    situation = view.quick()
    grid = grid or situation.grid
    middle = [extent // 2 for extent in grid]
    steps = [min(_NEIGHBOURS, extent - 1 - at) for extent, at in zip(grid, middle, strict=True)]
    blocks = [middle]
    windows = [_WINDOW] * (len(loops) - 1) + [window] * bool(loops)
    moves: list[tuple[int, int]] = [(-1, 0)]
    ends = [1]
    for level, own in enumerate(windows):
        moves += [(level, step) for step in range(1, own + 1)]
        blocks += [middle] * own
        ends.append(len(moves))
    slices: list[slice] = []
    for axis, count in enumerate(steps):
        start = len(moves)
        for step in range(1, count + 1):
            moves.append((-1, 0))
            blocks.append([at + step * (axis == own) for own, at in enumerate(middle)])
        slices.append(slice(start, len(moves)))
    values = {**view.pins}
    rows = Rows(view.graph, situation.threads, np.array(blocks, dtype=np.int64), np.ones(len(blocks)), values)
    # What memory holds is the same for all of them.
    rows.salt = np.broadcast_to(rows.salt[:1], rows.salt.shape)
    trips: list[float] = []
    for level, loop in enumerate(loops):
        by_lane = situation.lane_trips(rows, loop)
        longest = int(by_lane[0].max())
        trips.append(float(longest))
        first = max(0, (longest - 1 - windows[level]) // 2)
        counter = np.array([[first + (step if own == level else 0)] for own, step in moves], dtype=np.int64)
        alive = counter < by_lane
        rows = rows.child(np.arange(rows.count), rows.weights, {loop.counter: counter}, alive)
    levels = [_Level(slice(ends[level], ends[level + 1]), trips[level], False) for level in reversed(range(len(loops)))]
    levels += [_Level(own, float(extent), True) for own, extent in zip(slices, grid, strict=True) if extent > 1]
    return Plan(rows, tuple(levels))


class _Sets(Struct, frozen=True):
    """The sectors that a group of accesses touches in each row of a plan."""

    sectors: NDArray[np.int64]
    """Distinct ones of each row, one row after the other."""
    rows: NDArray[np.int64]
    """The row of each."""
    asked: float
    """By the warps of a row, on average."""
    requests: float
    """Warps that touch something in a row, on average over the rows in which any does, summed over accesses."""

    def size(self, row: int) -> int:
        first, end = np.searchsorted(self.rows, (row, row + 1)).tolist()
        return int(end - first)

    def growth(self, rows: slice) -> float:
        """By which part of itself the set grows from one row to the next."""
        steps = rows.stop - rows.start
        # The numbers of rows ascend: the first row, and those that move along one level.
        ends = np.searchsorted(self.rows, (1, rows.start, rows.stop)).tolist()
        own, moved = slice(0, ends[0]), slice(ends[1], ends[2])
        count = ends[0] + ends[2] - ends[1]
        touching = (ends[0] > 0) + len(distinct(self.rows[moved]))
        if steps <= 0 or touching < 2:
            return 1.0
        mean = count / touching
        together = len(_each(np.concatenate((self.sectors[own], self.sectors[moved]))))
        return float(min(1.0, max(0.0, (together - mean) / ((touching - 1) * mean))))


def _touched_by(
    group: Sequence[AccessEvent], plan: Plan, view: LaunchView, meter: Meter, caches: Caches
) -> list[Touched]:
    target, opaque = group[0].target, view.graph.opaque_bits
    lanes = plan.rows.count * plan.rows.threads.warps * WARP_LANES
    most = max(1, min(_MOST_EVENTS, _MOST_LANES // lanes))
    chosen = group[:: max(1, -(-len(group) // most))]
    sets = _sets(chosen, plan)
    warps = (
        sum(meter.executions(e.context.loops, e.context.conditions).warps for e in chosen) * len(group) / len(chosen)
    )
    if sets is None or not warps:
        return []
    asked = warps * sets.asked / sets.requests if sets.requests else 0.0
    size = _size(target, view)
    is_scattered = any(event.offset.bits & opaque for event in chosen)
    base = sets.size(0) or len(sets.sectors) / max(1, len(distinct(sets.rows)))
    block = unique = float(base)
    times = 1.0
    for level in plan.levels:
        if level.is_grid or not level.count:
            continue
        growth = 1 + (level.count - 1) * sets.growth(level.rows)
        times *= level.count
        block *= level.count if block * SECTOR_BYTES > caches.l1 else growth
        unique *= growth
    unique = _held(unique, size, is_scattered)
    block = max(_held(block, size, is_scattered) if (size or math.inf) <= caches.l1 else block, unique)
    of_block = sets.asked * times
    passed = asked * min(1.0, block / of_block)
    apart = fetched = unique
    of_grid = of_block
    for level in plan.levels:
        if level.is_grid:
            growth = 1 + (level.count - 1) * sets.growth(level.rows)
            of_grid *= level.count
            fetched *= level.count if fetched * SECTOR_BYTES > caches.l2 else growth
            apart *= growth
    share = asked / of_grid if of_grid else 0.0
    apart = _held(min(asked, apart * share), size, is_scattered)
    fetched = max(apart, min(asked, fetched * share))
    if (size or math.inf) <= caches.l2 or apart * SECTOR_BYTES <= caches.l2:
        fetched = apart
    is_load = group[0].operation == "load"
    passed = passed if is_load else asked
    found = Touched(
        target.memory, target.name, is_load, float(asked), float(passed), float(apart), float(fetched), size
    )  # fmt: skip
    return [found]


def _held(sectors: float, size: float | None, is_scattered: bool) -> float:
    """At most as many distinct sectors as the array has; of places that data chooses, some are chosen twice."""
    if size is None:
        return sectors
    room = max(1.0, size / SECTOR_BYTES)
    return room * -math.expm1(-sectors / room) if is_scattered else min(sectors, room)


def _size(target: Allocation, view: LaunchView) -> float | None:
    if target.bytes is not None:
        return float(target.bytes)
    if target.size is None:
        return None
    value = np.asarray(view.quick().base.value(target.size)).flat[0]
    return float(value) if value > 0 else None


def _sets(chosen: Sequence[AccessEvent], plan: Plan) -> _Sets | None:
    keys: list[NDArray[np.int64]] = []
    asked = requests = 0.0
    shape = (plan.rows.count, plan.rows.threads.warps, WARP_LANES)
    numbers = np.arange(plan.rows.count, dtype=np.int64)[:, None, None]
    of_warps = (numbers * shape[1] + np.arange(shape[1], dtype=np.int64)[None, :, None]) << _BITS
    for event in chosen:
        mask = plan.rows.mask(dependence(event.context, event.offset, plan.rows.graph).known).reshape(shape)
        if not mask.any():
            continue
        active = mask.any(axis=2).sum(axis=1)
        requests += active.sum() / (active > 0).sum()
        offsets = plan.rows.integers(event.offset).reshape(shape)
        first = offsets // SECTOR_BYTES
        last = (offsets + event.bytes - 1) // SECTOR_BYTES
        crossing = mask & (last != first)
        both = [(first, mask), (last, crossing)] if crossing.any() else [(first, mask)]
        # A number for each warp of each row and the sector: what is far apart may share one.
        found = [(of_warps | (place & _SECTORS))[own] for place, own in both]
        by_warp = _each(np.concatenate(found) if len(found) > 1 else found[0])
        rows = (by_warp >> _BITS) // shape[1]
        asked += len(by_warp) / len(distinct(rows))
        keys.append(_each((rows << _BITS) | (by_warp & _SECTORS)))
    if not keys:
        return None
    together = _each(np.concatenate(keys)) if len(keys) > 1 else keys[0]
    return _Sets(together & _SECTORS, together >> _BITS, asked, float(requests))


def _each(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The different ones, ascending."""
    return distinct(np.sort(numbers))


_BITS = 44
_SECTORS = (1 << _BITS) - 1
"""Numbers of sectors within so many bits."""


def traffic_of(found: Sequence[Touched], l2: float) -> Traffic:
    """What reaches L2 and DRAM: all stores reach L2, where the last that were written stay."""
    read, written = _by_array(found, is_load=True), _by_array(found, is_load=False)
    fetched = sum(read.values()) * SECTOR_BYTES
    distinct = sum(written.values()) * SECTOR_BYTES
    at_end = max(0.0, distinct - _KEPT * l2)
    arrays: dict[str, Moved] = {}
    for each in found:
        own = arrays.setdefault(each.name, Moved())
        own.l2 += each.passed * SECTOR_BYTES
        own.through += max(0.0, each.fetched - each.distinct) * SECTOR_BYTES if each.is_load else 0.0
        own.dram = own.through
    names = {each.array: each.name for each in found}
    for sums, share in ((read, 1.0), (written, at_end / distinct if distinct else 0.0)):
        for array, sectors in sums.items():
            arrays[names[array]].dram += share * sectors * SECTOR_BYTES
            arrays[names[array]].through += sectors * SECTOR_BYTES
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


def _by_array(found: Sequence[Touched], is_load: bool) -> Mapping[object, float]:
    """Distinct sectors of each array: its accesses in different loops mostly touch the same."""
    sums: dict[object, float] = {}
    for each in found:
        if each.is_load is is_load:
            sums[each.array] = max(sums.get(each.array, 0.0), each.distinct)
    return sums
