"""What is wrong with flags and counters that blocks of one grid wait for: data that is announced without a memory
fence, and counters that are set back while others may still look at them.

Atomics and volatile stores by themselves order nothing else (CUDA C++ Programming Guide, "Memory Fence Functions"): a
block that finds the counter changed may find what was written before it as it was.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent
from cudalint.execute.values import Data
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.measure.block_waits import meet_across, starts_of
from cudalint.measure.seen import Seen
from cudalint.measure.spins import Spin, reads_only


class Unfenced(NamedTuple):
    """A flag that is set, and data that was written before it with no fence between."""

    flag: AccessEvent
    written: AccessEvent
    read: AccessEvent
    """By another block, after it has waited."""
    lane: int
    """Of the thread that sets the flag."""


class Reset(NamedTuple):
    """A counter that is set back by a block that has waited for it as others do."""

    store: AccessEvent
    spin: Spin
    lane: int


def unfenced_of(seen: Seen, spins: list[Spin]) -> Iterator[Unfenced]:
    """Those of an execution in which blocks stand for themselves, one for each place that sets a flag."""
    trace = seen.trace
    if not seen.is_followed or any(barrier.kind == "grid" for barrier in trace.barriers):
        return
    flags = {spin.allocation for spin in spins}
    looks = {number for spin in spins for number, _ in spin.events}
    known: set[int] = set()
    for allocation in dict.fromkeys(spin.allocation for spin in spins if spin.allocation.space == "global"):
        own = {number for spin in spins if spin.allocation is allocation for number, _ in spin.events}
        sets = [number for number, each in enumerate(trace.accesses) if each.allocation is allocation and _sets(each)]
        reads = list(_reads_after(own, sets, seen, flags))
        for number in sets:
            event = trace.accesses[number]
            if id(event.node) in known:
                continue
            found = _unfenced(number, reads, looks, seen, flags)
            if found is not None:
                known.add(id(event.node))
                yield found


def _sets(event: AccessEvent) -> bool:
    """Whether it is a store or an atomic that orders nothing beside it."""
    if event.operation not in ("store", "atomic") or reads_only(event.node):
        return False
    if isinstance(event.node, ir.Call):
        return event.node.receiver is None
    return not isinstance(event.node, st.Asm)


def _reads_after(
    looks: Collection[int], sets: Sequence[int], seen: Seen, flags: Collection[Allocation]
) -> Iterator[AccessEvent]:
    """What is read behind a wait, before the thread sets the flag itself for others."""
    has_waited = False
    for number, event in enumerate(seen.trace.accesses):
        if number in looks:
            has_waited = True
        elif number in sets:
            has_waited = False
        elif has_waited and event.operation == "load" and event.allocation not in flags:
            yield event


def _unfenced(
    number: int, reads: Sequence[AccessEvent], looks: Collection[int], seen: Seen, flags: Collection[Allocation]
) -> Unfenced | None:
    """What was written since the last fence and the last wait before a flag is set."""
    trace = seen.trace
    start = max((fence.before for fence in trace.fences if fence.before <= number), default=0)
    start = max((look + 1 for look in looks if start <= look < number), default=start)
    for written in reversed(trace.accesses[start:number]):
        if not _is_plain_store(written, seen) or written.allocation in flags:
            continue
        for read in reads:
            if read.allocation is written.allocation and meet_across(written, read, trace.lanes):
                event = trace.accesses[number]
                mask = np.broadcast_to(event.mask, trace.lanes.full.shape)
                return Unfenced(event, written, read, int(mask[mask.any(axis=1).argmax()].argmax()))
    return None


def _is_plain_store(event: AccessEvent, seen: Seen) -> bool:
    is_store = event.operation == "store" and event.allocation.space == "global" and not event.allocation.varies
    is_own = isinstance(event.node, (ir.Index, ir.Unary, ir.Member, ir.Name))
    return is_store and is_own and event.node.span not in seen.function.volatile and event.data == 0


def resets_of(seen: Seen, spins: list[Spin]) -> Iterator[Reset]:
    """Counters that all blocks wait for, and that one of them clears as soon as it has seen what it waits for."""
    trace, lanes = seen.trace, seen.trace.lanes
    if not seen.is_followed or any(barrier.kind == "grid" for barrier in trace.barriers) or lanes.rows < 2:
        return
    for spin in spins:
        if spin.allocation.space != "global" or any(isinstance(event.offset, Data) for _, event in spin.events):
            continue
        loads = [event for _, event in spin.events]
        looked = [starts_of(loads, row, lanes) for row in range(lanes.rows)]
        common = set.intersection(*looked)
        last = spin.events[-1][0]
        later = min((each.events[0][0] for each in spins if each.events[0][0] > last), default=len(trace.accesses))
        for event in trace.accesses[last + 1 : later]:
            is_clearing = event.operation == "store" and type(event.value) is int and not event.value
            if event.allocation is not spin.allocation or not is_clearing or isinstance(event.offset, Data):
                continue
            rows = [row for row in range(lanes.rows) if starts_of([event], row, lanes) & common]
            if rows and not _is_chosen_by_atomic(event, seen):
                mask = np.broadcast_to(event.mask, lanes.full.shape)
                yield Reset(event, spin, int(mask[rows[0]].argmax()))
                break


def _is_chosen_by_atomic(event: AccessEvent, seen: Seen) -> bool:
    """Whether a number that was drawn decides who does it, as the last block that comes."""
    guards = (guard for guard in seen.ways.guards_of(event.node, event.stack) if guard.loop is None)
    return any(seen.origins_of(guard).atomics for guard in guards)
