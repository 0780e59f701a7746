"""Barriers of the block that order nothing: without them the same accesses are in order as with them.

A barrier is told to be redundant only where that can be seen for all threads: it is taken out of the traces of the
kernel, and no two threads may touch the same bytes in one interval that were in different ones before, unless both
only read: atomics are never in each other's way, but what they find depends on their order. Where addresses are not
known, accesses count as touching all of their array, and arrays in global memory as one; where anything else is not
understood, nothing is said.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set

from cudalint.concurrency.conflicts import Contest, clash
from cudalint.concurrency.effects import has_other_effects
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
    Touch,
)
from cudalint.ir import nodes as ir
from cudalint.ir.walk import nodes_in, walk
from cudalint.values.graph import Graph

_FEW_THREADS = 32
"""A block of one warp is one to try things with, and other launches have more."""

Groups = Mapping[object, Sequence[Touch]]
"""The accesses to each array."""
_When = tuple[int, int]
"""A base row of a trace and an interval between barriers in it."""


def redundant_barriers(execution: Execution, trial: Trial) -> set[ir.Span]:
    """The places of barriers in the kernel's own body that may go, all of them together."""
    sites: dict[ir.Span, list[BarrierEvent]] = defaultdict(list)
    for event in execution.events:
        if isinstance(event, BarrierEvent) and event.scope == "block":
            sites[event.context.span].append(event)
    if not sites or not _is_understood(execution):
        return set()
    search, looping = _Search(execution, trial), _calls_in_loops(execution.function)
    # The later one of two goes: a trailing barrier is the plainest case.
    those = [(place, tuple(events)) for place, events in reversed(sites.items())]
    return set(search.those_that_go([site for site in those if search.may_go(*site, looping)]))


_Site = tuple[ir.Span, tuple[BarrierEvent, ...]]


class _Search:
    def __init__(self, execution: Execution, trial: Trial) -> None:
        self._trial = trial
        self._exact, self._coarse = _groups(execution.events, trial.graph)
        self._traces: list[_Trace] = []
        self._left = Counter(
            loop for event in execution.events if isinstance(event, BarrierEvent) and event.scope == "block"
            for loop in event.context.loops
        )  # fmt: skip
        """By loop, the barriers in it that don't go."""
        touches = [touch for group in (*self._exact.values(), *self._coarse.values()) for touch in group]
        self._touched = {loop for touch in touches for loop in touch.context.loops}
        """Loops with anything to order."""
        try:
            for values in reaching_all(execution):
                unfolding = (trial.under(values) if values else trial).trace("block")
                self._traces.append(_Trace(unfolding, self._exact, self._coarse))
        except TooLarge:
            self._traces = []
        self._is_seen = bool(self._traces) and all(self._is_reached(touch) for touch in touches)

    def _is_reached(self, touch: Touch) -> bool:
        """Whether some trace shows the access; one that nothing ever reaches orders nothing either."""
        never = any(condition.is_const and not condition.value for condition in touch.context.conditions)
        return never or any(trace.unfolding.is_walked(touch) for trace in self._traces)

    def may_go(self, place: ir.Span, events: Sequence[BarrierEvent], looping: Container[ir.Span]) -> bool:
        """Whether a barrier is of the kind that is looked at, and all that it is for is seen."""
        if any(event.votes or event.context.frames for event in events) or not all(map(self._is_passed, events)):
            return False
        # A loop makes one iteration as its constants are; the barrier is there for others.
        return not (place in looping and len(events) == 1 and self._passes(events[0]) <= 1)

    def _is_passed(self, event: BarrierEvent) -> bool:
        """Whether some trace shows threads at the barrier: else nothing is known of what it is for."""
        traces = [trace.unfolding for trace in self._traces]
        return any(trace.is_reached(event) and bool(trace.mask(event).any()) for trace in traces)

    def _passes(self, event: BarrierEvent) -> int:
        """How often a block comes to the barrier, at most, in the iterations of one of the loops around it."""
        return max((n for trace in self._traces for n in trace.unfolding.iterations(event)), default=0)

    def those_that_go(self, sites: Sequence[_Site]) -> Iterator[ir.Span]:
        """Which barriers may go, of which the first ones go first: with some of them fewer may, and never more, so that
        several are tried at once."""
        if not self._is_seen or not sites or self._trial.is_over():
            return
        events = [event for _, each in sites for event in each]
        if self._keeps_order(events):
            yield from (place for place, _ in sites)
        elif len(sites) > 1:
            middle = len(sites) // 2
            yield from self.those_that_go(sites[:middle])
            yield from self.those_that_go(sites[middle:])

    def _keeps_order(self, more: Sequence[BarrierEvent]) -> bool:
        """Whether all stays in order without these, either, which are gone from then on."""
        fewer = Counter(loop for event in more for loop in event.context.loops)
        # Iterations without a barrier all meet each other, and each has to be looked at.
        bare = [loop for loop, number in fewer.items() if self._left[loop] == number and loop in self._touched]
        for trace in self._traces:
            if not all(map(trace.unfolding.is_whole, bare)) or not trace.is_ordered_without(more):
                return False
        self._left -= fewer
        for trace in self._traces:
            trace.drop(more)
        return True


class _Trace:
    """A trace of which barriers are gone."""

    def __init__(self, unfolding: Unfolding, exact: Groups, coarse: Groups) -> None:
        self.unfolding = unfolding
        self._gone: set[BarrierEvent] = set()
        self._gone_at: set[_When] = set()
        self._exact = [self._by_interval(touches) for touches in exact.values()]
        self._coarse = [self._by_interval(touches) for touches in coarse.values()]

    def _by_interval(self, touches: Iterable[Touch]) -> Mapping[_When, list[Touch]]:
        found: dict[_When, list[Touch]] = defaultdict(list)
        for touch in touches:
            if self.unfolding.is_walked(touch):
                rows = self.unfolding.base_rows(touch.context.nest).tolist()
                intervals = self.unfolding.times(touch).block[:, 0].tolist()
                for when in dict.fromkeys(zip(rows, intervals, strict=True)):
                    if when[1] >= 0:
                        found[when].append(touch)
        return found

    def drop(self, barriers: Iterable[BarrierEvent]) -> None:
        """Some more are gone."""
        self._gone.update(barriers)
        self._gone_at.update(when for barrier in barriers for when in self.unfolding.passes(barrier))

    def is_ordered_without(self, more: Sequence[BarrierEvent]) -> bool:
        """Whether nothing meets that did not before where some barriers are gone, too."""
        passed = {when for barrier in more for when in self.unfolding.passes(barrier)}
        merged = self._merged(passed)
        try:
            for group in self._coarse:
                if any(_meet(together) for together in _together(group, merged)):
                    return False
            changed = self.unfolding.without(self._gone.union(more))
            for group in self._exact:
                touches = {touch for together in _together(group, merged) for touch in together}
                if touches and _conflicts(changed, sorted(touches, key=changed.place_of)):
                    return False
        except (TooLarge, TooManyLanes):
            return False
        return True

    def _merged(self, passed: Set[_When]) -> list[list[_When]]:
        """The intervals that become one where barriers are gone that are passed then."""
        gone = self._gone_at | passed
        found: list[list[_When]] = []
        done: set[_When] = set()
        for row, interval in sorted(passed):
            if (row, interval) in done:
                continue
            first = interval
            while (row, first) in gone:
                first -= 1
            last = interval
            while (row, last + 1) in gone:
                last += 1
            found.append([(row, each) for each in range(first, last + 1)])
            done.update(found[-1])
        return found


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


def _together(group: Mapping[_When, list[Touch]], merged: Iterable[list[_When]]) -> Iterator[Mapping[Touch, set[int]]]:
    """The accesses that are in one interval now and were not before, one of them writing: for each such interval, the
    intervals that they were in."""
    for intervals in merged:
        now: dict[Touch, set[int]] = defaultdict(set)
        there = [(when, group[when]) for when in intervals if when in group]
        for (_, interval), touches in there:
            for touch in touches:
                now[touch].add(interval)
        if len(there) > 1 and any(effect(touch) != "load" for touch in now):
            yield now


def _groups(events: Sequence[Event], graph: Graph) -> tuple[Groups, Groups]:
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
    if not execution.complete or execution.function.problems or has_other_effects(execution):
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
