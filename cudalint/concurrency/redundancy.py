"""Barriers of the block that order nothing: without them the same accesses are in order as with them.

A barrier is told to be redundant only where that can be seen for all threads: it is taken out of the traces of the
kernel, and no two threads may touch the same bytes in one interval that were in different ones before, unless both
only read: atomics are never in each other's way, but what they find depends on their order. Where addresses are not
known, accesses count as touching all of their array, and arrays in global memory as one; where anything else is not
understood, nothing is said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cudalint.concurrency.conflicts import Contest, clash
from cudalint.concurrency.lanes import TooManyLanes, effect, is_one_array, memory_of, table_of
from cudalint.concurrency.trial import Trial
from cudalint.concurrency.tried_sizes import reaching_all
from cudalint.concurrency.unfold import TooLarge, Unfolding
from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.execution import Execution
from cudalint.interpreter.device.events import (
    AccessEvent,
    BarrierEvent,
    CopyEvent,
    EscapeEvent,
    Event,
    FenceEvent,
    LibraryAccess,
    Loop,
    Touch,
)
from cudalint.ir import nodes as ir
from cudalint.ir.walk import nodes_in, walk
from cudalint.values.graph import Graph

_CLOCKS = frozenset({"clock", "clock64", "__nanosleep", "__globaltimer"})
"""Code that looks at the time may want its threads to stand at one place."""
_FEW_THREADS = 32
"""A block of one warp is one to try things with, and other launches have more."""

Exact = Mapping[object, Sequence[Touch]]
"""The accesses to each shared array of which all addresses are known."""


def redundant_barriers(execution: Execution, trial: Trial) -> set[ir.Span]:
    """The places of barriers in the kernel's own body that may go, all of them together."""
    sites: dict[ir.Span, list[BarrierEvent]] = defaultdict(list)
    for event in execution.events:
        if isinstance(event, BarrierEvent) and event.scope == "block":
            sites[event.context.span].append(event)
    if not sites or not _is_understood(execution):
        return set()
    search, looping = _Search(execution, trial), _calls_in_loops(execution.function)
    found: set[ir.Span] = set()
    gone: frozenset[BarrierEvent] = frozenset()
    # The later one of two goes: a trailing barrier is the plainest case.
    for place, events in reversed(sites.items()):
        if any(event.votes or event.context.frames for event in events) or trial.is_over():
            continue
        if not all(search.is_passed(event) for event in events):
            continue
        if place in looping and len(events) == 1 and search.passes(events[0]) <= 1:
            # The loop makes one iteration as its constants are; the barrier is there for others.
            continue
        more = gone | frozenset(events)
        if search.keeps_order(more):
            found.add(place)
            gone = more
    return found


class _Search:
    def __init__(self, execution: Execution, trial: Trial) -> None:
        self._events = execution.events
        self._exact, self._coarse = _groups(execution.events, trial.graph)
        self._traces: list[Unfolding] = []
        try:
            for values in reaching_all(execution):
                self._traces.append((trial.under(values) if values else trial).trace("block"))
        except TooLarge:
            self._traces = []
        touches = [touch for group in (*self._exact.values(), *self._coarse.values()) for touch in group]
        self._is_seen = bool(self._traces) and all(self._is_reached(touch) for touch in touches)

    def _is_reached(self, touch: Touch) -> bool:
        """Whether some trace shows the access; one that nothing ever reaches orders nothing either."""
        never = any(condition.is_const and not condition.value for condition in touch.context.conditions)
        return never or any(trace.is_walked(touch) for trace in self._traces)

    def is_passed(self, event: BarrierEvent) -> bool:
        """Whether some trace shows threads at the barrier: else nothing is known of what it is for."""
        return any(trace.is_reached(event) and bool(trace.mask(event).any()) for trace in self._traces)

    def passes(self, event: BarrierEvent) -> int:
        """How often a block comes to the barrier, at most, in the iterations of one of the loops around it."""
        return max((n for trace in self._traces for n in trace.iterations(event)), default=0)

    def keeps_order(self, gone: frozenset[BarrierEvent]) -> bool:
        loops = self._bare_loops(gone)
        return self._is_seen and all(
            all(trace.is_whole(loop) for loop in loops) and self._is_ordered(trace, gone) for trace in self._traces
        )

    def _bare_loops(self, gone: frozenset[BarrierEvent]) -> set[Loop]:
        """Loops that have no barrier left: their iterations all meet each other, and each has to be looked at."""
        kept = {loop for e in self._events if isinstance(e, BarrierEvent) and e not in gone and e.scope == "block"
                for loop in e.context.loops}  # fmt: skip
        return {loop for event in gone for loop in event.context.loops} - kept

    def _is_ordered(self, trace: Unfolding, gone: frozenset[BarrierEvent]) -> bool:
        try:
            changed = trace.without(gone)
            for touches in self._coarse.values():
                if any(_meet(together) for together in _merged(touches, trace, changed)):
                    return False
            for touches in self._exact.values():
                together = {touch for group in _merged(touches, trace, changed) for touch in group}
                if together and _conflicts(changed, [touch for touch in touches if touch in together]):
                    return False
        except (TooLarge, TooManyLanes):
            return False
        return True


def _conflicts(changed: Unfolding, touches: Sequence[Touch]) -> bool:
    table = table_of(changed, touches, None)
    if table is None:
        return False
    contest = Contest(table)
    return any(
        next(contest.conflicts(reach, ignores_values=True, of_any_order=True), None) is not None
        for reach in ("block", "warp")
    )


def _meet(together: Mapping[Touch, set[int]]) -> bool:
    """Whether accesses that a barrier kept apart, given with the intervals that they were in, might touch the same
    bytes."""
    touches = list(together)
    return any(
        clash(a, b, of_any_order=True) and len(together[a] | together[b]) > 1
        for position, a in enumerate(touches)
        for b in touches[position:]
    )


def _merged(touches: Iterable[Touch], trace: Unfolding, changed: Unfolding) -> Iterator[Mapping[Touch, set[int]]]:
    """The accesses that are in one interval now and were not before, one of them writing: for each such interval, the
    intervals that they were in."""
    now: dict[tuple[object, int], dict[Touch, set[int]]] = defaultdict(lambda: defaultdict(set))
    for touch in touches:
        if not trace.is_walked(touch):
            continue
        blocks = map(tuple, trace.rows_of(touch).blocks.tolist())
        befores, afters = trace.times(touch).block[:, 0].tolist(), changed.times(touch).block[:, 0].tolist()
        for block, before, after in zip(blocks, befores, afters, strict=True):
            if before >= 0:
                now[block, after][touch].add(before)
    for together in now.values():
        if len(set().union(*together.values())) > 1 and any(effect(touch) != "load" for touch in together):
            yield together


def _groups(events: Sequence[Event], graph: Graph) -> tuple[Exact, Mapping[object, Sequence[Touch]]]:
    """The accesses that may need order, by array: where all is known, and where it is not."""
    groups: dict[object, list[Touch]] = defaultdict(list)
    for event in events:
        if isinstance(event, (AccessEvent, LibraryAccess)) and event.target.space in ("shared", "global"):
            key = "global" if event.target.space == "global" else memory_of(event.target)
            groups[key].append(event)
    written = {key: touches for key, touches in groups.items() if any(effect(touch) != "load" for touch in touches)}
    exact = {
        key: touches
        for key, touches in written.items()
        if key != "global" and all(_is_known(touch, graph) for touch in touches)
    }
    return exact, {key: touches for key, touches in written.items() if key not in exact}


def _is_known(touch: Touch, graph: Graph) -> bool:
    """Whether the addresses are those that the trace has for all sizes and all data."""
    unknown = graph.opaque_bits | graph.uniform_bits
    return (
        not touch.offset.bits & unknown
        and is_one_array(touch.target, graph)
        and not dependence(touch.context, touch.offset, graph).is_astray
        and isinstance(touch, AccessEvent)
    )


def _calls_in_loops(function: ir.Function) -> set[ir.Span]:
    """The places of the calls that the source has in loops."""
    loops = [node for node in nodes_in(function) if isinstance(node, (ir.For, ir.While, ir.DoWhile, ir.RangeFor))]
    return {node.span for loop in loops for node in walk(loop.body) if isinstance(node, ir.Call)}


def _is_understood(execution: Execution) -> bool:
    """Whether nothing but the block's own barriers orders threads, and all threads surely come to them."""
    graph = execution.view.graph
    x, y, z = execution.launch.block
    if execution.launch.block_is_made_up or x * y * z <= _FEW_THREADS:
        return False
    if not execution.complete or execution.function.problems or _does_more(execution.function):
        return False
    for event in execution.events:
        if isinstance(event, (FenceEvent, CopyEvent, EscapeEvent, LibraryAccess)):
            return False
        if isinstance(event, AccessEvent) and (event.operation == "async-copy" or event.one_of):
            return False
        if isinstance(event, BarrierEvent) and event.scope != "warp" and not _is_plain(event, graph):
            return False
    return True


def _is_plain(event: BarrierEvent, graph: Graph) -> bool:
    by_data = any(condition.bits & graph.opaque_bits for condition in event.context.deciding)
    return event.scope == "block" and event.part == "whole" and not event.implied and not by_data


def _does_more(function: ir.Function) -> bool:
    """Whether the kernel, or what it calls, launches a kernel, which touches what its block has written before, reads a
    clock, sleeps, or has assembly in it."""
    seen: set[str] = set()
    pending: list[ir.Function | None] = [function]
    while pending:
        current = pending.pop()
        if current is not None and current.launches_kernels:
            return True
        for node in nodes_in(current) if current is not None else ():
            if isinstance(node, ir.Asm) or (isinstance(node, ir.Call) and node.name in _CLOCKS):
                return True
            callee = node.function if isinstance(node, ir.Call) else None
            if callee is not None and callee.is_user and callee.key not in seen:
                seen.add(callee.key)
                pending.append(callee.load())
    return False
