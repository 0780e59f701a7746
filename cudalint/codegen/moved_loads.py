"""Loads that the compiler makes elsewhere than the source does: those whose address and value a loop cannot change, and
which it makes in each iteration, are made before the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from cudalint.codegen.unrolling import MAX_FULL
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import (
    AccessEvent,
    BarrierEvent,
    Event,
    FenceEvent,
    LibraryAccess,
    Loop,
)
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.values.arithmetic import I8
from cudalint.values.graph import Graph, conjuncts

_HOISTED_LOADS = heuristic("hoisted-loads", "line tables of some 250 programs, nvcc 13.0")

_LOOPS = (ir.For, ir.While, ir.DoWhile, ir.RangeFor)


def hoisted(
    accesses: Sequence[AccessEvent], events: Iterable[Event], restricted: frozenset[str], graph: Graph
) -> list[AccessEvent]:
    """The accesses, with the loads that a loop does not change where they are executed: once, before the loop, by all
    lanes that get there, and not again by those that are still in it.

    Measured on rows of a sparse matrix: `k < start[row + 1]` is loaded once where the loop stores nothing, and in every
    iteration where it stores to global memory. A load of the body is noted at the line of the loop's head, since it
    loses its own (read from the line tables of some 250 programs, nvcc 13.0): that of `x[i]` in `sum += x[i] * y[j]` at
    `for (int j = 0; j < n; j++)`.

    `restricted` are the parameters that are declared `__restrict__`.
    """
    result = list(accesses)
    movable = [i for i, access in enumerate(result) if access.context.loops and _may_move(access)]
    if not movable or not _HOISTED_LOADS.is_on:
        return result
    changing = _Changing.by(events, restricted)
    for place in movable:
        access = _of_first_turn(_before_heads(result[place], changing), changing, graph)
        result[place] = _before_loop(access, changing, graph)
    return result


class _Changing(Struct, frozen=True):
    """What may change memory in loops."""

    spaces: set[tuple[Loop, str]]
    """The loops in which memory of a space may change under a load."""
    targets: set[tuple[Loop, str]]
    """Those that store to a parameter that nothing else points to."""
    restricted: frozenset[str]

    @classmethod
    def by(cls, events: Iterable[Event], restricted: frozenset[str]) -> _Changing:
        found = cls(set(), set(), restricted)
        for event in events:
            if isinstance(event, (BarrierEvent, FenceEvent)):
                spaces: tuple[str, ...] = ("global", "shared")
            elif isinstance(event, (AccessEvent, LibraryAccess)) and event.operation != "load":
                spaces = (event.target.space,)
                found.targets.update((loop, event.target.name) for loop in event.context.loops)
            else:
                continue
            found.spaces.update((loop, space) for loop in event.context.loops for space in spaces)
        return found

    def value_of(self, load: AccessEvent, loop: Loop) -> bool:
        """Whether what is loaded may be another value in another iteration."""
        if load.target.symbol is None and load.target.name in self.restricted:
            return (loop, load.target.name) in self.targets
        return (loop, load.target.space) in self.spaces


def _may_move(access: AccessEvent) -> bool:
    return access.operation == "load" and not access.is_verbatim


def _bits(access: AccessEvent) -> int:
    """The leaves that decide about the address."""
    return access.offset.bits | (access.target.opaque.bits if access.target.opaque is not None else 0)


def _before_heads(access: AccessEvent, changing: _Changing) -> AccessEvent:
    """What is executed however often the loop turns: its head, as far as it has no conditions of its own."""
    context, bits = access.context, _bits(access)
    loops = list(context.loops)
    while (
        loops
        and (loops[-1], access.target.space) not in changing.spaces
        and context.conditions == loops[-1].conditions
        and not bits & loops[-1].counter.bits
    ):
        loops.pop()
    if len(loops) == len(context.loops):
        return access
    return replace(access, context=replace(context, loops=tuple(loops)))


def _of_first_turn(access: AccessEvent, changing: _Changing, graph: Graph) -> AccessEvent:
    """A load that all turns of a loop make whose length the compiler knows: the first one's is there for the others, at
    its own line where the loop is unrolled (measured on a loop of four turns over rows that lie apart, sm_90)."""
    context, loops, conditions = access.context, list(access.context.loops), access.context.conditions
    noted_at, is_made = access.noted_at, access.left_out is None
    while is_made and loops and loops[-1].is_counted:
        loop = loops[-1]
        trips = graph.trips(loop.counter, loop.condition)
        if not trips.is_const or trips.value < 1 or changing.value_of(access, loop):
            break
        own = conditions[len(loop.conditions) :]
        tests = (*conjuncts(graph, loop.condition), loop.condition)
        if _bits(access) & (loop.counter.bits | graph.opaque_bits) or any(
            all(condition is not test for test in tests) for condition in own
        ):
            break
        if not loop.is_unrolled and trips.value > MAX_FULL:
            noted_at = loop.span
        conditions = loop.conditions
        loops.pop()
    if len(loops) == len(context.loops):
        return access
    moved = replace(
        context, loops=tuple(loops), conditions=conditions, guard=min(context.guard, len(conditions))
    )  # fmt: skip
    return replace(access, context=moved, noted_at=noted_at)


def _before_loop(access: AccessEvent, changing: _Changing, graph: Graph) -> AccessEvent:
    """A load of the body of a loop whose length is known at run time only, before which the compiler asks whether it
    turns at all."""
    context = access.context
    if not context.loops or access.left_out is not None:
        return access
    loop = context.loops[-1]
    if loop.is_counted or _bits(access) & (loop.counter.bits | graph.opaque_bits) or changing.value_of(access, loop):
        return access
    tests = (*conjuncts(graph, loop.condition), loop.condition)
    own = context.conditions[len(loop.conditions) :]
    if not own or any(all(condition is not test for test in tests) for condition in own):
        return access
    if not _is_in_body(context.span, loop):
        return access
    first = graph.substitution({loop.counter: graph.const(0, I8)})
    moved = replace(
        context, loops=context.loops[:-1], conditions=(*loop.conditions, *map(first, own)),
        guard=min(context.guard, len(loop.conditions)),
    )  # fmt: skip
    return replace(access, context=moved, noted_at=loop.span)


def _is_in_body(span: ir.Span, loop: Loop) -> bool:
    """Whether a place is in the body of a loop and in no other loop in that: one that was counted out leaves none
    behind, and may not turn at all."""
    if loop.statement is None or not _is_within(span, loop.span):
        return False
    inner = (node for node in walk.walk(loop.statement.body) if isinstance(node, _LOOPS))
    return not any(_is_within(span, node.span) for node in inner)


def _is_within(span: ir.Span, whole: ir.Span) -> bool:
    start, end = (whole.line, whole.column), (whole.end_line, whole.end_column)
    return span.path == whole.path and start <= (span.line, span.column) <= end
