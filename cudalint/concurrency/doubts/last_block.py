"""What only one block does: the one that draws a number from a counter, as the last one does when each block has drawn
when it was done.

`ticket = atomicAdd(&done, 1); if (ticket == gridDim.x - 1) ...` lets one block in, since an atomic that adds gives each
number once. What that block touches alone is no race. What others have touched before they drew is in order only where
a memory fence stands between: atomics by themselves order nothing else (CUDA C++ Programming Guide, "Memory Fence
Functions", whose example this is).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from cudalint.concurrency.conflicts import Conflict, Thread
from cudalint.concurrency.doubts.doubt import Doubt, conditions_of
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent, Event, Touch
from cudalint.interpreter.device.values import Allocation
from cudalint.values.graph import Graph
from cudalint.values.nodes import BLOCK_BITS, THREAD_BITS, Counter, Node, below, without_cast
from cudalint.values.opaque_parts import opaque_parts


class Turn(Struct, frozen=True, eq=False):
    """A condition that one thread of all that draw from a counter fulfils, or its block."""

    condition: Node
    counter: Counter
    address: Node
    number: Node
    """The one that has to be drawn."""

    def address_for(self, thread: Thread, graph: Graph) -> Node:
        return graph.of_thread(self.address, thread.thread, thread.block)


class LateTurn(Struct, frozen=True, eq=False):
    """A turn behind which one access of a conflict is, and which the other thread draws for when it has made its own.
    """

    turn: Turn
    drawn: AccessEvent
    """The atomic."""


@heuristic("doubt-last-block", "`atomicAdd(&done, 1) == gridDim.x - 1`").otherwise(None)
def of_one_block(conflict: Conflict, graph: Graph, events: Sequence[Event]) -> Doubt | None:
    """Accesses by two blocks of which both need the same number, and drawing one, which is over for all others when the
    last one has come."""
    if conflict.reach != "grid":
        return None
    ends = ((conflict.first, conflict.one), (conflict.second, conflict.other))
    turns = [[(turn, thread) for turn in _turns(end, graph, events)] for end, thread in ends]
    for mine, thread in turns[0]:
        for other, another in turns[1]:
            is_one = mine.counter.memory is other.counter.memory and mine.number is other.number
            if is_one and _is_one_address(mine.address_for(thread, graph), other.address_for(another, graph), graph):
                return Doubt("only one block gets the number that both accesses need", excludes=True)
    for found, (end, thread) in zip(turns, ends[::-1], strict=True):
        for turn, another in found:
            place = graph.of_thread(end.offset, thread.thread, thread.block)
            is_drawing = end.operation == "atomic" and end.target is turn.counter.memory
            if is_drawing and _is_one_address(place, turn.address_for(another, graph), graph):
                return Doubt("the last block comes when the others have drawn their numbers", excludes=True)
    return None


def late_turn(
    conflict: Conflict, graph: Graph, events: Sequence[Event], places: Mapping[int, int]
) -> LateTurn | None:
    """The turn by which one end comes after the other one, but for a fence. `places` has the position of each event, by
    its identity."""
    if conflict.reach != "grid":
        return None
    for end, other in ((conflict.first, conflict.second), (conflict.second, conflict.first)):
        for turn in _turns(end, graph, events):
            drawn = _drawn(turn, events)
            if drawn is None or turn.counter.orders:
                continue
            before = places.get(id(other))
            if before is not None and before < places[id(drawn)]:
                return LateTurn(turn, drawn)
    return None


def _drawn(turn: Turn, events: Sequence[Event]) -> AccessEvent | None:
    """The atomic that draws the number."""
    for event in events:
        if not isinstance(event, AccessEvent) or event.operation != "atomic":
            continue
        if event.target is turn.counter.memory and event.offset is turn.address:
            return event
    return None


def _is_one_address(a: Node, b: Node, graph: Graph) -> bool:
    return a is b and not a.bits & (graph.loop_bits | graph.opaque_bits)


def _turns(end: Touch, graph: Graph, events: Sequence[Event]) -> Iterator[Turn]:
    for condition in conditions_of(graph, end):
        if condition.bits & graph.opaque_bits:
            turn = _turn(condition, end, graph, events)
            if turn is not None:
                yield turn


def _turn(condition: Node, end: Touch, graph: Graph, events: Sequence[Event]) -> Turn | None:
    asked = _as_stored(condition, end, graph, events)
    while asked.op == "cast" or (asked.op == "!=" and asked.args[1].is_const and not asked.args[1].value):
        asked = asked.args[0]
    if asked.op != "==":
        return None
    for drawn, number in (asked.args, asked.args[::-1]):
        parts = opaque_parts(graph, drawn)
        if len(parts) != 1 or number.bits & ~graph.uniform_bits:
            continue
        ((part, reason),) = parts
        if reason.counter is not None and _is_as_drawn(drawn, part):
            return Turn(condition, reason.counter, part.args[reason.counter.address], number)
    return None


def _is_as_drawn(value: Node, drawn: Node) -> bool:
    """Whether a value is what was drawn, but for a number that all threads add, or their place among the lanes that
    draw together."""
    value = without_cast(value)
    if value is drawn:
        return True
    if value.op not in ("+", "-"):
        return False
    a, b = value.args
    own = THREAD_BITS | BLOCK_BITS
    is_moved = not b.bits & own or any(node.op == "rank" for node in below([b], own))
    return is_moved and _is_as_drawn(a, drawn)


def _as_stored(condition: Node, end: Touch, graph: Graph, events: Sequence[Event]) -> Node:
    """A condition with what one thread has stored in the place of what all threads of its block load from there."""
    known: dict[Node, Node] = {}
    for part, reason in opaque_parts(graph, condition):
        if part.op != "opaque" or not reason.memory or not part.args:
            continue
        (memory, *_), place = reason.memory, part.args[0]
        if isinstance(memory, Allocation) and memory.space == "shared":
            stored = _stored(memory, place, end, events)
            if stored is not None:
                known[part] = graph.convert(stored, part.kind)
    return graph.substitute(condition, known) if known else condition


def _stored(memory: Allocation, place: Node, end: Touch, events: Sequence[Event]) -> Node | None:
    """What the last store to a place before an access stores; others may only have cleared it."""
    values: list[Node] = []
    for event in events:
        if event is end:
            break
        if not isinstance(event, AccessEvent) or event.operation != "store" or event.target is not memory:
            continue
        if event.offset is place:
            if event.values is None or len(event.values) != 1:
                return None
            values += event.values
    if not values or any(not value.is_const or value.value for value in values[:-1]):
        return None
    return values[-1]
