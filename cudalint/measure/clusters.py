"""The order of accesses to the shared memory of other blocks of a cluster.

Source: CUDA C++ Programming Guide, "Distributed Shared Memory": "Accessing data in distributed shared memory requires
all the thread blocks to exist", which `cluster.sync()` makes sure of, and "the user needs to make sure that all the
distributed shared memory operations happen before the exit of a thread block". Blocks of a cluster are ordered by
barriers of the cluster or the grid alone. A kernel whose threads wait at barriers in memory is left alone: these may
order blocks, too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

import numpy as np
from msgspec import Struct

from cudalint.execute.trace import AccessEvent, DistributedEvent, Trace
from cudalint.execute.values import Data
from cudalint.facts.clusters import UnorderedKind


class Unordered(Struct, frozen=True, eq=False):
    """An access to another block's memory, and what nothing orders it with."""

    kind: UnorderedKind
    event: AccessEvent
    own: AccessEvent | None = None
    """The access that the other block makes itself."""


def unordered(trace: Trace) -> Iterator[Unordered]:
    """Those of an execution, the first of each place and kind. What one block does, all do."""
    if not trace.distributed or any(barrier.kind == "named" for barrier in trace.barriers):
        return
    if trace.is_cut or any(call.is_users for call in trace.calls):
        return
    seen: set[tuple[object, ...]] = set()
    order = _Order(trace)
    for number, made in enumerate(trace.distributed):
        for found in order.of(number, made):
            key = found.kind, found.event.node, found.own.node if found.own is not None else None
            if key not in seen:
                seen.add(key)
                yield found


class _Order:
    def __init__(self, trace: Trace) -> None:
        self._trace, self._steps = trace, trace.cluster_steps
        self._places = [step.before for step in self._steps]
        shape = trace.lanes.full.shape
        comes = [np.broadcast_to(step.mask, shape).any(axis=1) for step in self._steps]
        none = np.zeros(shape[0], np.int64)
        passed = [none]
        for step, those in zip(self._steps, comes, strict=True):
            passed.append(passed[-1] + (those if step.part != "arrive" else 0))
        self._passed: Any = np.array(passed)
        """[steps + 1, rows]: how many barriers of the cluster the block has passed behind each step."""
        arrived = [none]
        for step, those in zip(reversed(self._steps), reversed(comes), strict=True):
            arrived.append(arrived[-1] + (those if step.part != "wait" else 0))
        self._to_come: Any = np.array(arrived[::-1])
        """[steps + 1, rows]: how many it has yet to arrive at."""
        self._own = [
            (number, event) for number, event in enumerate(trace.accesses)
            if any(event.allocation is made.array for made in trace.distributed)
        ]  # fmt: skip

    def of(self, number: int, made: DistributedEvent) -> Iterator[Unordered]:
        event = made.event
        step = self._steps_before(number)
        rows: Any = event.mask.any(axis=1)
        if (self._passed[step][rows] == 0).all():
            yield Unordered("before", event)
        elif (self._to_come[step][rows] == 0).all():
            yield Unordered("after", event)
        if isinstance(event.offset, Data):
            return
        for position, own in self._own:
            if own.allocation is made.array and _may_race(event, own) and self._meets(step, event, position, own):
                yield Unordered("beside", event, own)
                return

    def _steps_before(self, number: int) -> int:
        return sum(step.distributed <= number for step in self._steps)

    def _meets(self, step: int, event: AccessEvent, position: int, own: AccessEvent) -> bool:
        """Whether a block accesses, between the same two barriers of the cluster, what another one gets to."""
        others = self._passed[bisect_right(self._places, position)]
        for row in np.flatnonzero(event.mask.any(axis=1) & own.mask.any(axis=1)).tolist():
            if others[row] == self._passed[step][row]:
                here, there = (_bytes_of(each, row) for each in (event, own))
                if np.intersect1d(here, there, assume_unique=True).size:
                    return True
        return False


def _may_race(event: AccessEvent, own: AccessEvent) -> bool:
    """Whether one of the two writes, all blocks make the second, and they are not both atomics."""
    operations = {event.operation, own.operation}
    return operations != {"load"} and operations != {"atomic"} and own.data == 0 and not isinstance(own.offset, Data)


def _bytes_of(event: AccessEvent, row: int) -> Any:
    lanes = np.flatnonzero(event.mask[row])
    offset = event.offset
    if type(offset) is np.ndarray:
        own = offset[row if offset.shape[0] > 1 else 0]
        start = np.broadcast_to(own, event.mask.shape[1:])[lanes]
    else:
        start = np.full(1, int(offset))
    return np.unique(start.astype(np.int64)[:, None] + np.arange(event.bytes))
