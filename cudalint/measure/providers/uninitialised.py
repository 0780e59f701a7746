"""Shared arrays that are read before anything is written to them.

It is the first touch of an array that tells: what comes later may find what another thread has written meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
from msgspec import Struct

from cudalint.execute.lanes import Extents
from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent, Trace
from cudalint.facts import Place
from cudalint.facts.uninitialised import Uninitialised
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.kinds import Kind
from cudalint.measure.faults import by_world
from cudalint.measure.places import frames_of
from cudalint.measure.providers.provider import Run, SiteProvider
from cudalint.measure.unfilled import holes
from cudalint.regexes import regex


class UninitialisedCollector(SiteProvider, eq=False):
    """Says nothing of kernels that are not known in full. In a template that nothing instantiates,
    `BlockReduce(storage).Sum(v)` may be any call."""

    kind: ClassVar[Kind] = "uninitialised"
    into: ClassVar[str] = "uninitialised"

    def add(self, run: Run) -> None:
        if not run.subject.is_whole or run.subject.function.is_template_pattern:
            return
        for each in first_reads(run.executed.trace):
            written = each.written
            found = Uninitialised(
                Place(*each.event.node.span), frames_of(each.event.stack), each.array.name, run.index, each.thread,
                each.event.operation == "atomic", Place(*written.node.span) if written is not None else None,
                run.configuration.assumptions,
            )  # fmt: skip
            self.note((each.array.name, found.place), found)
        if is_followed(run.executed.trace):
            for hole in holes(run.executed.seen, run.executed.batch):
                found = Uninitialised(
                    Place(*hole.read.node.span), frames_of(hole.read.stack), hole.array.name, run.index, hole.thread,
                    False, Place(*hole.store.node.span), run.configuration.assumptions, hole.block, hole.absent,
                    hole.has_returned, hole.size,
                )  # fmt: skip
                self.note((hole.array.name, found.place), found)


# --- what the trace shows ------------------------------------------------------------------------------


_GOES_ON = regex(r"(atomic|fetch_|.*(::|\.)fetch_)(add|sub|inc|dec|max|min|and|or|xor)", re.IGNORECASE)
"""How atomics are called whose result depends on what was there; of an exchange that may be of no interest."""


class FirstRead(Struct, frozen=True, eq=False):
    """A read of an array that nothing was written to."""

    event: AccessEvent
    array: Allocation
    thread: Extents
    """The first one that reads, in the first world."""
    written: AccessEvent | None
    """The first time that something is written, later; None where nothing ever is."""


def is_followed(trace: Trace) -> bool:
    """Whether nothing else may write shared memory than what is in the trace."""
    if trace.unknown or trace.astray or any(isinstance(event.node, st.Asm) for event in trace.accesses):
        return False
    return not any(call.is_users for call in trace.calls)


def first_reads(trace: Trace) -> Iterator[FirstRead]:
    """Those of a launch, of one that is known in full: nothing else may write."""
    if not is_followed(trace):
        return
    touched: dict[Allocation, list[AccessEvent]] = {}
    for event in trace.accesses:
        if event.allocation.space == "shared":
            touched.setdefault(event.allocation, []).append(event)
    passed = {pointer.allocation for call in trace.calls for pointer in call.pointers}
    # Other blocks of the cluster may write to it.
    passed |= {made.array for made in trace.distributed}
    for array, events in touched.items():
        if array not in passed and (found := _first_read(array, events, trace)) is not None:
            yield found


def _first_read(array: Allocation, events: Sequence[AccessEvent], trace: Trace) -> FirstRead | None:
    """Whatever the world is, it is a read that comes first there, and no data decides whether anybody gets there."""
    lanes, first = trace.lanes, None
    left = np.ones(lanes.worlds, bool)
    for event in events:
        own = left & by_world(lanes, event.mask)
        if not own.any():
            continue
        if not _reads(event) or event.data > 0:
            return None
        first = first or event
        left &= ~own
        if not left.any():
            break
    if first is None or any(_comes_before(event, first) for event in events if not _reads(event)):
        return None
    rows = np.flatnonzero(first.mask.any(axis=1))
    lane = int(first.mask[rows[0]].argmax())
    written = next((event for event in events if event.operation in ("store", "async-copy")), None)
    return FirstRead(first, array, lanes.thread_of(lane), written)


def _comes_before(event: AccessEvent, read: AccessEvent) -> bool:
    """Whether threads that the trace has later, of the other side of a branch, touch the array before a barrier that
    the reading ones have passed: named barriers may be waited for on one side, and arrived at on the other."""
    if event is read:
        return False
    own, others = (np.broadcast_to(each.interval, each.mask.shape) for each in (read, event))
    latest = np.where(read.mask, own, -1).max(axis=1)
    return bool((event.mask & (others < latest[:, None])).any())


def _reads(event: AccessEvent) -> bool:
    """Whether what was there matters: functions of libraries may know better."""
    if event.operation == "atomic":
        return isinstance(event.node, ir.Call) and _GOES_ON.match(event.node.name) is not None
    return event.operation == "load" and not isinstance(event.node, (ir.Call, ir.Construct))
