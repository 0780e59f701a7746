"""Asynchronous copies that are under way: from where they are issued to where their thread waits for them."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cudalint.execute.trace import AccessEvent, CopyEvent, Trace
from cudalint.measure.arrays import Flags, Integers

_MOST = 64
"""Intervals in which one copy is looked at."""
_NEVER = np.iinfo(np.int64).max


class _Step(NamedTuple):
    """A step of copies, by the blocks that come to it: those of other sizes have gone on, or are behind."""

    before: int
    kept: int | None
    comes: Flags
    interval: Integers


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
    steps = [_step(step, trace) for step in trace.copies]
    places = [step.before for step in steps]
    for number, event in issued:
        comes: Flags = np.any(event.mask, axis=1)
        end = np.minimum(_waited_for(steps[bisect.bisect_right(places, number) :], comes), last)
        begin = _by_row(event.interval, event.mask)
        for after in range(1, min(int((end - begin)[comes].max(initial=0)), _MOST) + 1):
            interval = event.interval + after
            is_before: Any = interval <= (int(end[0]) if (end == end[0]).all() else end[:, None])
            yield number, event._replace(interval=interval, mask=event.mask & is_before)


def _step(step: CopyEvent, trace: Trace) -> _Step:
    mask = np.broadcast_to(step.mask, trace.lanes.full.shape)
    comes: Flags = np.any(mask, axis=1)
    return _Step(step.before, step.kept, comes, _by_row(step.interval, mask))


def _by_row(interval: Any, mask: Any) -> Integers:
    """The interval in which the last of some lanes are, block by block."""
    found: Integers = np.where(mask, interval, -1).max(axis=1).astype(np.int64)
    return found


def _waited_for(steps: Sequence[_Step], comes: Flags) -> Integers:
    """The interval in which a copy is known to be done in each block that issues it, given the steps behind it: the
    first group that is made there is its own, and each further one comes after it, with copies or without any."""
    groups = np.full(len(comes), -1)
    until = np.full(len(comes), _NEVER)
    for step in steps:
        if step.kept is None:
            groups += step.comes
            continue
        done = step.comes & (until == _NEVER) & ((groups >= step.kept) | (step.kept == 0))
        until[done] = step.interval[done]
        if (until[comes] != _NEVER).all():
            break
    return until
