"""When asynchronous copies are done: which step of copies each of them is waited for by.

Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async": a group has the copies that a thread has
issued since its last one, `cp.async.wait_group N` waits until the latest N groups at most are under way, and copies
that are in no group yet are waited for by `cp.async.wait_all` alone, or by a barrier in memory that they signal.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from cudalint.execute.trace import EVERY_COPY, CopyEvent, Trace
from cudalint.measure.arrays import Flags, Integers


class Step(NamedTuple):
    """A step of copies, by the blocks that come to it: those of other sizes have gone on, or are behind."""

    event: CopyEvent
    comes: Flags
    interval: Integers


class Waits:
    """The steps of copies of an execution. A thread of a block that waits is taken to wait for all of its lanes."""

    def __init__(self, trace: Trace) -> None:
        self.steps: Sequence[Step] = [_step(event, trace) for event in trace.copies]
        self._places = [step.event.before for step in self.steps]
        self._rows = trace.lanes.rows

    def after(self, number: int) -> int:
        """The first step behind an access, by its number."""
        return bisect.bisect_right(self._places, number)

    def end_of(self, number: int, comes: Flags) -> Integers:
        """For each row that issues a copy, the step at which it is known to be done; `len(self.steps)` where none is:
        the first group that is made behind it is its own, and each further one comes after it, with copies or without
        any."""
        groups = np.full(self._rows, -1)
        found = np.full(self._rows, len(self.steps))
        left = comes.copy()
        for at in range(self.after(number), len(self.steps)):
            step = self.steps[at]
            if step.event.kept is None:
                groups += step.comes
                continue
            done = left & step.comes & ((step.event.kept == EVERY_COPY) | (groups >= step.event.kept))
            found[done] = at
            left &= ~done
            if not left.any():
                break
        return found

    def last_before(self, number: int, other: int, row: int) -> tuple[Step | None, int]:
        """The last wait of a row between a copy and another access, and how many groups were made then behind that of
        the copy; -1 where it is in none. None where it waits for nothing."""
        groups, found, then = -1, None, -1
        for step in self.steps[self.after(number) : self.after(other)]:
            if not step.comes[row]:
                continue
            if step.event.kept is None:
                groups += 1
            else:
                found, then = step, groups
        return found, then


NEVER: Final = np.iinfo(np.int64).max
"""The interval in which a copy ends that nobody waits for."""


def intervals_of(waits: Waits, ends: Integers) -> Integers:
    """In which each row comes to these steps."""
    never = np.full(len(ends), NEVER)
    for at in np.unique(ends[ends < len(waits.steps)]).tolist():
        never[ends == at] = waits.steps[at].interval[ends == at]
    return never


def _step(event: CopyEvent, trace: Trace) -> Step:
    mask = np.broadcast_to(event.mask, trace.lanes.full.shape)
    comes: Flags = np.any(mask, axis=1)
    return Step(event, comes, by_row(event.interval, mask))


def by_row(interval: Any, mask: Any) -> Integers:
    """The interval in which the last of some lanes are, block by block."""
    found: Integers = np.where(mask, interval, -1).max(axis=1).astype(np.int64)
    return found
