"""Barriers that not all threads come to which they wait for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from cudalint.execute.lanes import Extents, Lanes
from cudalint.execute.trace import BarrierEvent, Stack, Trace
from cudalint.facts import BarrierKind
from cudalint.hardware.requests import WARP_LANES
from cudalint.measure.arrays import Mask

_FIRST = (0, 0, 0)
Absence = Literal["returned", "elsewhere", "never"]
"""Why a thread does not come to a barrier: it has returned before; it comes to another one in its place; or it goes
past it to the end of the kernel. Those of parts of warps are never told to be elsewhere."""


class MissedBarrier(Struct, frozen=True, eq=False):
    """A barrier that some threads of a block, or of a warp, come to, and others don't."""

    node: Any
    stack: Stack
    kind: BarrierKind
    absence: Absence
    waiting: Extents
    """A thread that comes."""
    absent: Extents
    """One that doesn't."""
    block: Extents
    """That of both."""
    world: int
    worlds: tuple[int, ...]
    """In which some threads of a block come, and others are absent in this way."""
    instead: Any
    """The barrier that the absent one comes to, if it does."""
    is_conditional: bool
    """Data decides whether a thread comes; those that may come are taken to."""


def missed_barriers(trace: Trace) -> list[MissedBarrier]:
    """The barriers that not all threads come to, in the order of the trace: one of each kind of absence."""
    lanes = trace.lanes
    passed = {is_warp: _passed(trace, is_warp) for is_warp in (False, True)}
    found: dict[tuple[Any, Stack, Absence], list[MissedBarrier]] = {}
    complete: set[tuple[Any, Stack, int, int]] = set()
    for event in trace.barriers:
        lot = event.node, event.stack, id(event.mask), id(event.expected)
        if event.mask is lanes.full or lot in complete:
            continue
        absences = list(_absent(event, lanes, passed[event.kind == "syncwarp"]))
        if all(absence == "returned" for absence, _ in absences):
            # Whoever is missing when the same threads come again has returned, too.
            complete.add(lot)
        for absence, absent in absences:
            entries = found.setdefault((event.node, event.stack, absence), [])
            seen = {w for entry in entries for w in entry.worlds if entry.is_conditional == (event.data > 0)}
            rows = np.flatnonzero(absent.any(axis=1))
            worlds = sorted(set((rows // lanes.blocks).tolist()) - seen)
            if worlds:
                own = rows[np.isin(rows // lanes.blocks, worlds)].tolist()
                # Block 0 is there whatever the grid is; those who have returned may be behind the end of the data.
                row = own[0] if absence == "returned" else min(own, key=lambda row: lanes.block_of(row) != _FIRST)
                entries.append(_missed(trace, event, absence, absent, row, tuple(worlds)))
    return [_joined(entries) for entries in found.values()]


def _passed(trace: Trace, is_warp: bool) -> Any:
    """How many barriers each lane passes in all."""
    total = np.zeros(trace.lanes.full.shape, np.int64)
    for event in trace.barriers:
        if (event.kind == "syncwarp") == is_warp:
            total += event.mask if event.partial is None else event.mask & ~event.partial
    return total


def _absent(event: BarrierEvent, lanes: Lanes, passed: Any) -> Iterator[tuple[Absence, Mask]]:
    """The lanes that a barrier misses, by why."""
    if event.expected is None:
        return
    is_warp = event.kind == "syncwarp"
    interval = event.warp_interval if is_warp else event.interval

    def in_groups(mask: Mask) -> Any:
        return lanes.by_warp(mask) if is_warp else mask.reshape(lanes.rows, 1, lanes.lanes)

    comes = in_groups(event.mask)
    is_reached = comes.any(axis=2, keepdims=True)
    group = _spread(is_reached, lanes)
    missing = event.expected & ~event.mask & group
    of_whole = group
    if event.partial is not None:
        of_whole = group & ~_spread(in_groups(event.partial).any(axis=2, keepdims=True), lanes)
    returned = lanes.full & ~event.expected & of_whole
    if returned.any():
        yield "returned", returned
    if not missing.any():
        return
    of_those_who_come = in_groups(np.where(event.mask, interval, -1)).max(axis=2, keepdims=True)
    elsewhere = missing & of_whole & (passed > _spread(of_those_who_come, lanes))
    absences: tuple[tuple[Absence, Mask], ...] = ("elsewhere", elsewhere), ("never", missing & ~elsewhere)
    for absence, absent in absences:
        if absent.any():
            yield absence, absent


def _spread(of_groups: Any, lanes: Lanes) -> Any:
    """What a block or a warp has, for each of its lanes."""
    return np.repeat(of_groups, lanes.lanes // of_groups.shape[1], axis=2).reshape(lanes.rows, lanes.lanes)


def _missed(
    trace: Trace, event: BarrierEvent, absence: Absence, absent: Mask, row: int, worlds: tuple[int, ...]
) -> MissedBarrier:
    lanes = trace.lanes
    lane = int(np.flatnonzero(absent[row])[0])
    comes = event.mask[row].copy()
    is_warp = event.kind == "syncwarp"
    if is_warp:
        first = lane - lane % WARP_LANES
        comes[:first] = comes[first + WARP_LANES :] = False
    waiting = int(np.flatnonzero(comes)[0])
    instead = _other_barrier(trace, event, row, lane, waiting) if absence == "elsewhere" else None
    return MissedBarrier(
        event.node, event.stack, event.kind, absence, lanes.thread_of(waiting), lanes.thread_of(lane),
        lanes.block_of(row), lanes.world_of(row), worlds, instead, event.data > 0,
    )  # fmt: skip


def _other_barrier(trace: Trace, event: BarrierEvent, row: int, lane: int, waiting: int) -> Any:
    """The barrier that a lane comes to in place of the one that another waits at."""
    is_warp = event.kind == "syncwarp"
    number = _at(_interval(event), row, waiting)
    for other in trace.barriers:
        is_same_kind = (other.kind == "syncwarp") == is_warp
        if is_same_kind and other.mask[row, lane] and _at(_interval(other), row, lane) == number:
            return other.node
    return None


def _interval(event: BarrierEvent) -> Any:
    return event.warp_interval if event.kind == "syncwarp" else event.interval


def _at(values: Any, row: int, lane: int) -> int:
    return int(values[row, lane]) if type(values) is np.ndarray else int(values)


def _joined(entries: Sequence[MissedBarrier]) -> MissedBarrier:
    """One record of the same barrier in several worlds; a witness that comes for certain, if there is one."""
    best = min(
        entries, key=lambda each: (each.is_conditional, each.absence != "returned" and each.block != _FIRST)
    )
    alike = [entry for entry in entries if entry.is_conditional == best.is_conditional]
    worlds = sorted({world for entry in alike for world in entry.worlds})
    fields = {name: getattr(best, name) for name in best.__struct_fields__}
    return MissedBarrier(**fields | {"worlds": tuple(worlds)})
