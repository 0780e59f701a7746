"""What barriers that name a part of a warp put in order, and how long asynchronous copies are under way.

Barriers of the block, of the grid and of whole warps are counted by lane while a kernel is executed: accesses in
different intervals are ordered. Those of parts of warps are not: two such parts go on side by side. Here each lane has
a vector clock, as in "FastTrack: Efficient and Precise Dynamic Race Detection" (Flanagan, Freund; PLDI 2009), for the
few warps that need one. The clocks count accesses of the trace."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudalint.execute.trace import AccessEvent, Trace
from cudalint.hardware.requests import WARP_LANES
from cudalint.measure.arrays import Flags
from cudalint.measure.awaited import Waits, by_row, intervals_of

Clocks = NDArray[np.int32]


class Exchanges:
    """Functions by which the lanes of whole warps exchange something, for which all of them wait."""

    def __init__(self, trace: Trace) -> None:
        lanes = trace.lanes
        self._warps = lanes.warps
        events = [
            event for event in trace.barriers
            if event.scope == "warp" and event.is_implied and event.partial is None and not event.data
        ]  # fmt: skip
        self._positions: Any = np.array([event.position for event in events], np.int64)
        shape = len(events) + 1, lanes.rows, lanes.warps
        self._count: Any = np.zeros(shape, np.int32)
        for at, event in enumerate(events):
            comes = lanes.by_warp(np.broadcast_to(event.mask, lanes.full.shape)).any(axis=2)
            self._count[at + 1] = self._count[at] + comes
        self.are_any = bool(events)

    def passed(self, entries: Any) -> Any:
        """How many of them the warp of each entry has come to before."""
        at = np.searchsorted(self._positions, entries.number, side="right")
        return self._count[at, entries.row, entries.lane // WARP_LANES]


class WarpOrder:
    """The order of the accesses of lanes of one warp, within its intervals."""

    def __init__(self, trace: Trace) -> None:
        lanes = trace.lanes
        events = [(event.position, event.partial) for event in trace.barriers if event.partial is not None]
        self._positions = [position for position, _ in events]
        shape = len(events), lanes.rows, lanes.warps, WARP_LANES
        self._partial = np.zeros(shape, bool)
        """[barriers, rows, warps, lanes] that they order."""
        for at, (_, partial) in enumerate(events):
            self._partial[at] = lanes.by_warp(np.broadcast_to(partial, lanes.full.shape))
        self.needed: Flags = np.logical_or.reduce(self._partial, axis=(0, 3))
        """Warps [R, warps] that have such barriers."""
        numbers: dict[bytes, int] = {}
        whole = [self._partial[:, row].tobytes() for row in range(lanes.rows)] if events else [b""] * lanes.rows
        self.classes = np.array([numbers.setdefault(each, len(numbers)) for each in whole])
        """Integers of rows that are equal for those with the same such barriers."""
        self._clocks: dict[tuple[int, int], tuple[list[int], list[Clocks]]] = {}
        self._made_before: dict[bytes, tuple[list[int], list[Clocks]]] = {}

    def is_ordered(self, row: int, warp: int, first: tuple[int, int], second: tuple[int, int]) -> bool:
        """Whether two accesses, each by its number in the trace and its lane of the warp, the earlier first, are
        ordered by barriers of parts of the warp."""
        positions, clocks = self._clocks_of(row, warp)
        number, lane = second
        known = clocks[bisect_right(positions, number)][lane, first[1]]
        return first[0] < int(known)

    def _clocks_of(self, row: int, warp: int) -> tuple[list[int], list[Clocks]]:
        found = self._clocks.get((row, warp))
        if found is None:
            partial = np.ascontiguousarray(self._partial[:, row, warp])
            key = partial.tobytes()
            if key not in self._made_before:
                self._made_before[key] = self._made(partial)
            found = self._clocks[row, warp] = self._made_before[key]
        return found

    def _made(self, partial: Any) -> tuple[list[int], list[Clocks]]:
        """Where clocks change, and what they are before and after each of these places."""
        positions: list[int] = []
        clock: Clocks = np.zeros((WARP_LANES, WARP_LANES), np.int32)
        clocks = [clock]
        for position, those in zip(self._positions, partial, strict=True):
            members = np.flatnonzero(those)
            if not len(members):
                continue
            clock = clock.copy()
            clock[members, members] = position
            clock[members] = clock[members].max(axis=0)
            positions.append(position)
            clocks.append(clock)
        return positions, clocks


# --- asynchronous copies that are under way ------------------------------------------------------------


_MOST = 64
"""Intervals in which one copy is looked at."""


def under_way(trace: Trace) -> Iterator[tuple[int, AccessEvent]]:
    """The accesses that copies still make in the intervals after the one in which they are issued, each by its number
    in the trace. A thread of a block that waits is taken to wait for all of its lanes."""
    issued = [
        (number, event) for number, event in enumerate(trace.accesses)
        if event.operation == "async-copy" and event.allocation.space == "shared"
    ]  # fmt: skip
    if not issued:
        return
    last = max((int(np.max(event.interval)) for event in trace.accesses), default=0)
    waits = Waits(trace)
    for number, event in issued:
        comes: Flags = np.any(event.mask, axis=1)
        end = np.minimum(intervals_of(waits, waits.end_of(number, comes)), last)
        begin = by_row(event.interval, event.mask)
        for after in range(1, min(int((end - begin)[comes].max(initial=0)), _MOST) + 1):
            interval = event.interval + after
            is_before: Any = interval <= (int(end[0]) if (end == end[0]).all() else end[:, None])
            yield number, event._replace(interval=interval, mask=event.mask & is_before)
