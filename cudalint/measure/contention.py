"""Of the accesses of an allocation those in units of memory that two touch, one of which writes: all others are left
before anything else is found out about them. Units far apart may be taken for one another: what is left is looked at
once more, and exactly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cudalint.measure.arrays import Flags, Integers

_MOST_UNITS = 16
"""Of one access, to be looked at one by one."""
_BITS = range(18, 27)
"""Of the size of a table."""
_SPARSE = 4
"""A table has at least so many units for each access."""
_MIXING = np.uint64(0x9E3779B97F4A7C15)


class Touched(NamedTuple):
    """What some lanes touch by one event, n of them."""

    part: Any
    start: Integers
    """The first byte of each."""
    at: Integers
    """The number of its row among those that are looked at."""
    lane: Integers

    def only(self, chosen: Flags) -> Touched:
        return Touched(self.part, self.start[chosen], self.at[chosen], self.lane[chosen])


def contended(touched: Sequence[Touched], unit: int, writes: Flags, blocks: int | None) -> Sequence[Touched]:
    """Those that may meet another thread of their row; with a number of blocks to each world, of another block of their
    world. `writes` says which kinds write."""
    if max(each.part.event.bytes for each in touched) > _MOST_UNITS * unit:
        return touched
    table = _Table(touched, unit, blocks)
    of_writes = [(own, table.who(own)) for own in touched if writes[own.part.kind]]
    writer = np.full(table.size, -1, np.int32)
    for own, who in of_writes:
        for place in table.places(own):
            writer[place] = who
    is_shared = np.zeros(table.size, bool)
    for own in touched:
        who = table.who(own)
        for place in table.places(own):
            last = writer[place]
            is_shared[place[(last >= 0) & (last != who)]] = True
    if not is_shared.any():
        return ()
    found = []
    for own in touched:
        chosen: Any = np.zeros(len(own.start), bool)
        for place in table.places(own):
            chosen |= is_shared[place]
        if chosen.any():
            found.append(own if chosen.all() else own.only(chosen))
    return found


class _Table:
    """Places of units in a table."""

    def __init__(self, touched: Sequence[Touched], unit: int, blocks: int | None) -> None:
        self._unit, self._blocks = unit, blocks
        self._low = min(int(each.start.min()) for each in touched) // unit
        self._span = max(int(each.start.max()) + each.part.event.bytes for each in touched) // unit - self._low + 1
        rows = 1 + max(int(each.at.max()) for each in touched)
        units = (-(-rows // blocks) if blocks is not None else rows) * self._span
        wanted = _SPARSE * sum(len(each.start) for each in touched)
        self._bits = min(max(_BITS.start, wanted.bit_length()), _BITS.stop)
        self._is_exact = units <= 1 << self._bits
        self.size = units if self._is_exact else 1 << self._bits

    def who(self, own: Touched) -> Integers:
        return own.lane if self._blocks is None else own.at % self._blocks

    def places(self, own: Touched) -> Iterator[Integers]:
        """Of the first unit of each access, and of those behind it."""
        row = own.at if self._blocks is None else own.at // self._blocks
        first = row * self._span + (own.start // self._unit - self._low)
        for more in range(own.part.event.bytes // self._unit):
            place = first + more if more else first
            if not self._is_exact:
                place = ((place.view(np.uint64) * _MIXING) >> np.uint64(64 - self._bits)).view(np.int64)
            yield place
