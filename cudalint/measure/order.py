"""What barriers that name a part of a warp put in order.

Barriers of the block, of the grid and of whole warps are counted by lane while a kernel is executed: accesses in
different intervals are ordered. Those of parts of warps are not: two such parts go on side by side. Here each lane has
a vector clock, as in "FastTrack: Efficient and Precise Dynamic Race Detection" (Flanagan, Freund; PLDI 2009), for the
few warps that need one. The clocks count accesses of the trace.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np

from cudalint.execute.trace import Trace
from cudalint.hardware.requests import WARP_LANES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Clocks = NDArray[np.int64]
else:
    Clocks = Any


class WarpOrder:
    """The order of the accesses of lanes of one warp, within its intervals."""

    def __init__(self, trace: Trace) -> None:
        lanes = trace.lanes
        self._barriers = [
            (event.position, lanes.by_warp(np.broadcast_to(event.partial, lanes.full.shape)))
            for event in trace.barriers
            if event.partial is not None
        ]
        self.needed = np.zeros((lanes.rows, lanes.warps), bool)
        """Warps [R, warps] that have such barriers."""
        for _, partial in self._barriers:
            self.needed |= partial.any(axis=2)
        self._clocks: dict[tuple[int, int], tuple[list[int], list[Clocks]]] = {}

    def is_ordered(self, row: int, warp: int, first: tuple[int, int], second: tuple[int, int]) -> bool:
        """Whether two accesses, each by its number in the trace and its lane of the warp, the earlier first, are
        ordered by barriers of parts of the warp."""
        positions, clocks = self._clocks_of(row, warp)
        number, lane = second
        known = clocks[bisect_right(positions, number)][lane, first[1]]
        return first[0] < int(known)

    def _clocks_of(self, row: int, warp: int) -> tuple[list[int], list[Clocks]]:
        found = self._clocks.get((row, warp))
        if found is not None:
            return found
        positions: list[int] = []
        clock: Clocks = np.zeros((WARP_LANES, WARP_LANES), np.int64)
        clocks = [clock]
        for position, partial in self._barriers:
            members = np.flatnonzero(partial[row, warp])
            if not len(members):
                continue
            clock = clock.copy()
            clock[members, members] = position
            clock[members] = clock[members].max(axis=0)
            positions.append(position)
            clocks.append(clock)
        self._clocks[row, warp] = positions, clocks
        return positions, clocks
