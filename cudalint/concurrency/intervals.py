"""Barrier intervals: between two barriers of a scope all threads of that scope run in any order."""

from __future__ import annotations

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray


class Intervals(Struct, eq=False):
    """When the instances of one event happen. Arrays are [rows, warps] of the rows of the event's loops."""

    block: NDArray[np.int64]
    """The barrier interval of the block."""
    warp: NDArray[np.int64]
    """The interval between barriers of the warp."""
    soft: NDArray[np.int64]
    """The same, with shuffles and votes counted as well."""
    grid: NDArray[np.int64]
    until: NDArray[np.int64]
    """The last barrier interval of the block in which it may still be under way: later than the first for an
    asynchronous copy, and between arriving at a barrier and waiting there."""
    step: NDArray[np.int64]
    """[rows] when the walk through the trace of the block got there."""


class Clock(Struct):
    """The current intervals of one block, while its trace is walked."""

    warp: NDArray[np.int64]
    shuffles: int = 0
    block: int = 0
    grid: int = 0
    step: int = 0
    arrived: bool = False
    """Between an arrival at a barrier and the wait."""
    between: list[tuple[Intervals, int | slice]] = field(default_factory=list)
    """What was stamped since the arrival."""
    open: list[tuple[int, int]] = field(default_factory=list)
    """Asynchronous copies that are in no group yet: event and row."""
    groups: list[list[tuple[int, int]]] = field(default_factory=list)

    def skip(self, barriers: frozenset[str]) -> None:
        """Iterations with barriers in them are passed over: nothing before meets anything after."""
        self.warp += 2
        if barriers == {"warp"}:
            return
        self.block += 2
        if "grid" in barriers:
            self.grid += 2
        self.groups.clear()
        self.open.clear()
