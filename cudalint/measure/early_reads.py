"""Reads of shared memory while an asynchronous copy that writes there is under way.

A copy is done when the thread that issues it has waited for it. Until then nobody may read what it writes: neither
this thread, nor others behind a barrier. Each unit of an array is looked at in the order of the trace, with the copy
that was issued to it last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from msgspec import Struct

from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent, Trace
from cudalint.execute.values import Data
from cudalint.measure.arrays import Integers
from cudalint.measure.awaited import Step, Waits

_FIRST: Final = 3
"""Turns of a loop that are executed one after the other, whatever becomes of the others."""
_MOST_UNITS: Final = 1 << 22
"""Of an array in all worlds; larger ones are not looked at."""


class EarlyRead(Struct, frozen=True, eq=False):
    """A read, the copy that may still be writing there, and what was waited for between them."""

    read: AccessEvent
    copy: AccessEvent
    lane: int
    copier: int
    """The lanes that read and that copy."""
    wait: Step | None
    groups: int
    """That were made behind the copy's own when it was waited; -1 where it is in none."""
    worlds: tuple[int, ...]


def early_reads(trace: Trace) -> Iterator[EarlyRead]:
    """The first one of each copy and each place that reads, where no data decides whether they are made and where. The
    first block that is executed stands for the others. What a function does that was not followed may be the wait."""
    copied = {
        event.allocation for event in trace.accesses
        if event.operation == "async-copy" and event.allocation.space == "shared" and event.data == 0
    }  # fmt: skip
    if not copied:
        return
    waits = Waits(trace)
    unread = [call.position for call in trace.calls if call.is_users]
    # Between the first turns of a loop none is left out, and between later ones there may be groups that are not seen.
    sampled = {id(each.node) for each in trace.left_out if each.reason != "too many events"}
    unread += [turn.before for turn in trace.turns if turn.number >= _FIRST and id(turn.loop.statement) in sampled]
    for array in copied:
        events = [
            (number, event) for number, event in enumerate(trace.accesses)
            if event.allocation is array and not isinstance(event.offset, Data) and event.bytes > 0
        ]  # fmt: skip
        yield from _Array(trace, waits, array, events, unread).found()


class _Array:
    """One array, unit by unit in the first block of each world."""

    def __init__(
        self, trace: Trace, waits: Waits, array: Allocation, events: Sequence[tuple[int, AccessEvent]],
        unread: Sequence[int],
    ) -> None:  # fmt: skip
        lanes = trace.lanes
        self._trace, self._waits, self._unread = trace, waits, unread
        self._rows: Integers = np.arange(lanes.worlds) * lanes.blocks
        low_bits, self._end = 0, 1
        self._touched = []
        for number, event in events:
            at, lane, start = self._where(event)
            if len(at):
                low_bits |= int(np.bitwise_or.reduce(start)) | event.bytes
                self._end = max(self._end, int(start.max()) + event.bytes)
                self._touched.append((number, event, at, lane, start))
        self._unit = max(low_bits & -low_bits, 1)

    def _where(self, event: AccessEvent) -> tuple[Integers, Integers, Integers]:
        """Rows, among those that are looked at, lanes and the first bytes of what these touch."""
        at, lane = np.nonzero(event.mask[self._rows])
        offset: Any = event.offset
        if type(offset) is not np.ndarray:
            return at, lane, np.full(len(at), int(offset), np.int64)
        rows = self._rows[at] if offset.shape[0] > 1 else 0
        start = offset[rows, lane if offset.shape[1] > 1 else 0]
        start = np.broadcast_to(start, at.shape).astype(np.int64)
        inside = start >= 0
        return at[inside], lane[inside], start[inside]

    def found(self) -> Iterator[EarlyRead]:
        shape = len(self._rows), -(-self._end // self._unit)
        if shape[0] * shape[1] > _MOST_UNITS:
            return
        writer, copier = np.full(shape, -1, np.int64), np.zeros(shape, np.int64)
        until = np.zeros(shape, np.int64)
        known: set[tuple[object, ...]] = set()
        for number, event, at, lane, start in self._touched:
            row, units, own = self._units(event, at, lane, start)
            if event.operation == "async-copy" and event.data == 0:
                ends = self._ends(number, event)
                writer[row, units], copier[row, units], until[row, units] = number, own, ends[row]
            elif event.operation != "load":
                until[row, units] = 0
            elif event.data == 0:
                early = until[row, units] > number
                if early.any():
                    row, units, own = row[early], units[early], own[early]
                    for each in np.unique(writer[row, units]).tolist():
                        copy = self._trace.accesses[each]
                        key = id(event.node), event.stack, id(copy.node), copy.stack
                        if key not in known and not self._is_open(each, number):
                            known.add(key)
                            chosen = writer[row, units] == each
                            yield self._early(number, each, row[chosen], own[chosen], copier[row, units][chosen])

    def _units(self, event: AccessEvent, at: Integers, lane: Integers, start: Integers) -> tuple[Any, Any, Any]:
        width = event.bytes // self._unit
        row, own, first = (np.repeat(each, width) for each in (at, lane, start // self._unit))
        return row, first + np.tile(np.arange(width), len(at)), own

    def _ends(self, number: int, event: AccessEvent) -> Integers:
        """How many accesses there are before a copy is waited for, in each row that is looked at."""
        steps = self._waits.steps
        places = np.array([*(step.event.before for step in steps), np.iinfo(np.int64).max])
        found: Integers = places[self._waits.end_of(number, np.any(event.mask, axis=1))[self._rows]]
        return found

    def _is_open(self, copy: int, read: int) -> bool:
        """Whether something that was not followed comes between them."""
        return any(copy < position <= read for position in self._unread)

    def _early(self, read: int, copy: int, row: Integers, lane: Integers, copier: Integers) -> EarlyRead:
        # Another thread than the one that copies shows more, where both read too early; but its own is plainer.
        same = np.flatnonzero((row == row[0]) & (lane == copier))
        at = int(same[0]) if len(same) else 0
        wait, groups = self._waits.last_before(copy, read, int(self._rows[row[at]]))
        accesses = self._trace.accesses
        worlds = tuple(np.unique(row).tolist())
        return EarlyRead(accesses[read], accesses[copy], int(lane[at]), int(copier[at]), wait, groups, worlds)
