"""Barriers of the block that order nothing: without them the same accesses are in order as with them.

A barrier is reported as redundant only where that can be seen for all threads: the intervals that it divides are taken
for one, and no two threads may touch the same bytes in it that were in different ones before, unless both only read:
atomics are never in each other's way, but what they find depends on their order. Where addresses are not known,
accesses count as touching all of their array, and arrays in global memory as one; where anything else is not
understood, nothing is said.

Whether all that a kernel does is known: its accesses, its barriers and arithmetic, and nothing besides.

What else a barrier orders is not followed: reads and writes of surfaces, fetches of textures whose memory a store may
change, output, memory that is allocated, and whatever a function does of which nothing is known."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cudalint.execute.lanes import Lanes
from cudalint.execute.trace import AccessEvent, BarrierEvent, Trace
from cudalint.execute.values import Data
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.builtins import OF_NUMBERS, builtin
from cudalint.ir.walk import nodes_in, walk
from cudalint.measure.arrays import Flags, Integers
from cudalint.measure.barriers import missed_barriers
from cudalint.measure.bounds import extent_of
from cudalint.measure.executed import Executed
from cudalint.measure.origins import is_own
from cudalint.measure.places import functions_in, reference_of
from cudalint.measure.touches import Part, classes_of_rows, entries_of

_FEW_THREADS = 32
"""A block of one warp is one to try things with, and other launches have more."""
_MOST_BYTES = 1 << 24
"""That lanes touch of one array, each time that they do; of more nothing is said."""
_MOST_INTERVALS = 1 << 24
"""Of all rows: barriers in loops that turn millions of times have as many."""
Site = tuple[ir.Span, tuple[BarrierEvent, ...]]


def redundant_barriers(executed: Executed) -> set[ir.Span]:
    """The places of barriers in the kernel's own body that may go, all of them together."""
    trace = executed.trace
    sites: dict[ir.Span, list[BarrierEvent]] = {}
    for event in trace.barriers:
        if event.scope == "block":
            sites.setdefault(event.node.span, []).append(event)
    if not sites or not _is_understood(executed):
        return set()
    if not _is_seen(executed):
        return set()
    looping = _calls_in_loops(executed.function)
    # The later one of two goes: a trailing barrier is the plainest case.
    those = [
        (place, tuple(events)) for place, events in reversed(sites.items()) if not _is_kept(place, events, looping)
    ]
    try:
        found = set(_Search(trace).those_that_go(those)) if those else set()
        if not found or all(event.weight is trace.lanes.weight for event in trace.barriers):
            return found
        # Turns of loops with barriers that stand for others: without the barriers they all meet each other.
        trace = executed.in_full()
        # What so many turns leave in order others do: shared memory has no place for as many elements by turns.
        if trace.unknown or any(left.reason != "too many turns" for left in trace.left_out):
            return set()
        in_full = [
            (place, tuple(event for event in trace.barriers if event.node.span == place))
            for place, _ in those if place in found
        ]  # fmt: skip
        return set(_Search(trace).those_that_go(in_full))
    except _TooMuch:
        return set()


class _TooMuch(Exception):
    """There are too many touches to look at."""


def _is_kept(place: ir.Span, events: Sequence[BarrierEvent], looping: set[ir.Span]) -> bool:
    """Whether a barrier is in a function that kernels share, or its vote is used, or what it is for is not seen."""
    if any(event.stack or event.node.name.endswith(("_or", "_and", "_count")) for event in events):
        return True
    # A loop makes one iteration as its constants are; the barrier is there for others.
    return place in looping and len(events) == 1


class _Search:
    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._rows = trace.lanes.rows
        self._gone: set[int] = set()
        self._passes = [
            (_interval_by_row(event), event.mask.any(axis=1)) for event in trace.barriers if event.scope == "block"
        ]
        self._numbers = {
            id(event): number
            for number, event in enumerate(each for each in trace.barriers if each.scope == "block")
        }
        self._most = 1 + max((int(interval.max()) for interval, _ in self._passes), default=0)
        if self._rows * self._most > _MOST_INTERVALS:
            raise _TooMuch
        self._exact, self._coarse = _grouped(trace)

    def those_that_go(self, sites: Sequence[Site]) -> Iterator[ir.Span]:
        """Which barriers may go, of which the first ones go first: with some of them fewer may, and never more, so that
        several are tried at once."""
        numbers = {self._numbers[id(event)] for _, events in sites for event in events}
        if self._keeps_order(numbers):
            self._gone |= numbers
            yield from (place for place, _ in sites)
        elif len(sites) > 1:
            middle = len(sites) // 2
            yield from self.those_that_go(sites[:middle])
            yield from self.those_that_go(sites[middle:])

    def _keeps_order(self, more: set[int]) -> bool:
        """Whether all stays in order without these, either."""
        gone = self._gone | more
        kept = np.zeros((self._rows, self._most + 1), bool)
        for number, (interval, comes) in enumerate(self._passes):
            if number not in gone:
                kept[comes, interval[comes]] = True
        now = np.zeros((self._rows, self._most + 2), np.int64)
        now[:, 1:] = np.cumsum(kept, axis=1)
        return not any(_meet(group, now, True) for group in self._exact) and not any(
            _meet(group, now, False) for group in self._coarse
        )


def _interval_by_row(event: BarrierEvent) -> Integers:
    """In which interval of its block a barrier is come to; -1 for blocks that don't come."""
    wide = np.broadcast_to(np.asarray(event.interval), event.mask.shape)
    found: Integers = np.where(event.mask, wide, -1).max(axis=1).astype(np.int64)
    return found


class _Touches(NamedTuple):
    """Touches of an array, one for each place, row and interval, in this order."""

    place: Integers
    """A number for each unit of memory of a row."""
    row: Integers
    interval: Integers
    first: Integers
    """Of the lanes that touch it, the first one and the last."""
    last: Integers
    writes: Flags


def _meet(touches: _Touches, now: Integers, tells_lanes: bool) -> bool:
    """Whether touches that a barrier separated are in one interval now."""
    new = now[touches.row, touches.interval]
    starts = _starts(touches.place, new)

    def differs(low: Integers, high: Integers) -> Any:
        return np.minimum.reduceat(low, starts) != np.maximum.reduceat(high, starts)

    found = differs(touches.interval, touches.interval) & np.logical_or.reduceat(touches.writes, starts)
    return bool((found & differs(touches.first, touches.last)).any() if tells_lanes else found.any())


def _starts(*columns: Integers) -> Integers:
    """Where something changes."""
    is_new = np.ones(len(columns[0]), bool)
    is_new[1:] = np.logical_or.reduce([column[1:] != column[:-1] for column in columns])
    return np.flatnonzero(is_new)


def _collected(place: Integers, row: Integers, interval: Integers, lane: Integers, writes: Flags) -> _Touches:
    order = np.argsort(place * (int(interval.max()) + 1) + interval, kind="stable")
    place, row, interval, lane = (each[order] for each in (place, row, interval, lane))
    writes = writes[order]
    starts = _starts(place, interval)
    return _Touches(
        place[starts], row[starts], interval[starts], np.minimum.reduceat(lane, starts),
        np.maximum.reduceat(lane, starts), np.logical_or.reduceat(writes, starts),
    )  # fmt: skip


def _grouped(trace: Trace) -> tuple[list[_Touches], list[_Touches]]:
    """The touches of arrays that somebody writes: those whose bytes are known, and the others. Raises `_TooMuch`."""
    by_memory: dict[object, list[AccessEvent]] = {}
    for event in trace.accesses:
        space = event.allocation.space
        if space in ("shared", "global"):
            by_memory.setdefault("global" if space == "global" else event.allocation, []).append(event)
    exact: list[_Touches] = []
    coarse: list[_Touches] = []
    for memory, events in by_memory.items():
        if all(event.operation == "load" for event in events):
            continue
        if memory == "global" or any(isinstance(event.offset, Data) for event in events):
            coarse.append(_as_one(events))
            continue
        touches = _by_unit(events, trace.lanes)
        if touches is not None:
            exact.append(touches)
    return exact, coarse


def _by_unit(events: Sequence[AccessEvent], lanes: Lanes) -> _Touches | None:
    parts = [
        Part(number, number, event._replace(warp_interval=event.interval), event.mask)
        for number, event in enumerate(events)
    ]
    # Blocks that do the same are one.
    classes = classes_of_rows(parts, lanes, False, np.zeros(lanes.rows, np.int64))
    rows = np.unique(classes, return_index=True)[1]
    if sum(np.count_nonzero(part.mask[rows]) * part.event.bytes for part in parts) > _MOST_BYTES:
        raise _TooMuch
    made = entries_of(parts, lanes, rows, extent_of(events[0].allocation))
    if made is None:
        return None
    entries, _ = made
    writes = np.array([event.operation != "load" for event in events])
    return _collected(entries.place, entries.row, entries.warp_interval, entries.lane, writes[entries.number])


def _as_one(events: Sequence[AccessEvent]) -> _Touches:
    """Touches as if all were of one byte."""
    columns: list[tuple[Integers, Integers, Flags]] = []
    for event in events:
        if isinstance(event.interval, np.ndarray):
            wide = np.broadcast_to(event.interval, event.mask.shape)
            at, lane = np.nonzero(event.mask)
            row, interval = np.unique(np.stack((at, wide[at, lane])), axis=1)
        else:
            row = np.flatnonzero(event.mask.any(axis=1))
            interval = np.full(len(row), event.interval, np.int64)
        columns.append((row, interval, np.full(len(row), event.operation != "load")))
    row, interval, writes = (np.concatenate([column[i] for column in columns]) for i in range(3))
    return _collected(row, row, interval, np.zeros_like(row), writes)


# --- whether all is seen -----------------------------------------------------------------------------


def _is_understood(executed: Executed) -> bool:
    """Whether nothing but the block's own barriers orders threads, and all threads surely come to them."""
    trace, function = executed.trace, executed.function
    if trace.lanes.threads <= _FEW_THREADS or trace.unknown or trace.left_out or trace.fences or trace.copies:
        return False
    if function.problems or has_other_effects(executed):
        return False
    if trace.distributed or any(event.operation == "async-copy" for event in trace.accesses):
        return False
    blocks = [event for event in trace.barriers if event.scope == "block"]
    if any(event.kind not in ("syncthreads", "cooperative-groups") for event in blocks):
        return False
    if any(event.part != "whole" or event.is_implied or event.data for event in blocks):
        return False
    return not any(each.kind != "syncwarp" and each.absence != "returned" for each in missed_barriers(trace))


def _is_seen(executed: Executed) -> bool:
    """Whether each access of the source is made in some world: a barrier may be for one that nothing reaches."""
    made = {id(event.node) for event in executed.trace.accesses}
    for function, _ in functions_in(executed.function):
        nodes = nodes_in(function)
        taken = {id(node.operand) for node in nodes if isinstance(node, ir.Unary) and node.op == "&"}
        for node in nodes:
            is_place = isinstance(node, ir.Index) or (isinstance(node, ir.Unary) and node.op == "*")
            is_known = id(node) in made or id(node) in taken
            if is_place and not is_known and isinstance(node.type, (ir.Scalar, ir.PointerType)) and not is_own(node):
                return False
    return True


def _calls_in_loops(function: ir.Function) -> set[ir.Span]:
    """The places of the calls that the source has in loops."""
    loops = [node for node in nodes_in(function) if isinstance(node, (st.For, st.While, st.DoWhile, st.RangeFor))]
    return {node.span for loop in loops for node in walk(loop.body) if isinstance(node, ir.Call)}


# --- whether all that a kernel does is known -----------------------------------------------------------


_UNFOLLOWED = (st.Asm, ir.New, ir.Launch, ir.UnknownExpr, st.UnknownStmt)


def has_other_effects(executed: Executed) -> bool:
    """Whether a kernel does something that its events don't tell, or that others than its block take notice of: by an
    atomic blocks talk to each other, and by what is volatile."""
    volatile = executed.function.volatile
    for event in executed.trace.accesses:
        if (event.operation == "atomic" and event.allocation.space != "shared") or event.node.span in volatile:
            return True
    return _does_more(executed.function)


def _does_more(function: ir.Function) -> bool:
    seen: set[str] = set()
    pending = [function]
    while pending:
        current = pending.pop()
        if current.launches_kernels:
            return True
        for node in nodes_in(current):
            if isinstance(node, _UNFOLLOWED):
                return True
            if not isinstance(node, (ir.Call, ir.Construct)):
                continue
            callee = reference_of(node)
            if callee is not None and callee.key in seen:
                continue
            body = None if callee is None or _is_virtual(node) else callee.load()
            if body is not None and callee is not None:
                seen.add(callee.key)
                if callee.is_user or not _is_followed(node):
                    pending.append(body)
            elif not _is_followed(node):
                return True
    return False


def _is_virtual(node: ir.Call | ir.Construct) -> bool:
    return isinstance(node, ir.Call) and node.is_virtual


def _is_followed(node: ir.Call | ir.Construct) -> bool:
    """Whether the function is one of CUDA's of which all is known; what copies a class, where nobody says how, does
    nothing else."""
    callee = reference_of(node)
    if callee is None:
        return isinstance(node, ir.Construct) or builtin(node.name).is_followed
    if callee.is_user:
        return False
    known = builtin(callee.name)
    return known.is_followed or (not known.effect and os.path.basename(callee.span.path) in OF_NUMBERS)
