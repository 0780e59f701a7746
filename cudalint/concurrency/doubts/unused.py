"""Reads of which the result matters to nobody: `return s[0];` in a reduction that gives its sum to thread 0 alone; and
those that matter for nothing but who writes there: `if (s == none && fits) s = mine;`.

By the letter both are races all the same, and a sanitizer may see them. Of the first the compiler often moves the load
to where its result is used, and whatever it reads elsewhere, the program does what it would do. In the second any of
those that fit may win, in whichever order they come.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from msgspec import Struct

from cudalint.concurrency.conflicts import Conflict, Thread
from cudalint.concurrency.doubts.doubt import Doubt
from cudalint.evaluate.requests.execution import Execution
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent, Event, LibraryAccess, LocalIndexEvent, Touch
from cudalint.values.graph import Graph
from cudalint.values.nodes import BLOCK_BITS, THREAD_BITS, Node, Reason, below

_OWN_BITS = THREAD_BITS | BLOCK_BITS


@heuristic("doubt-unused-reads", "reductions that give thread 0 the sum").otherwise(None)
def of_nobody(conflict: Conflict, graph: Graph, execution: Execution) -> Doubt | None:
    """The read of a race whose result only the thread uses that writes there, in the blocks that were looked at."""
    ends = ((conflict.first, conflict.other), (conflict.second, conflict.one))
    reads = [(end, writer) for end, writer in ends if end.operation == "load"]
    if len(reads) != 1 or not isinstance(reads[0][0], AccessEvent) or execution.unseen or not execution.complete:
        return None
    ((read, writer),) = reads
    uses = uses_in(execution)
    if uses is None:
        return None
    found = [use for use in uses.get(read.offset, ()) if any(is_result(node, read) for node in use.results)]
    of_this = [use for use in found if any(is_result(node, read) and _is_of(node, read) for node in use.results)]
    if of_this and all(_elects(use.event, read, graph) for use in of_this):
        return Doubt("what is read decides only whether the same element is written")
    guards = [use.guard for use in found]
    if not guards or not all(guards):
        return None
    others = (thread for thread in _threads(conflict, execution) if thread != writer)
    if any(_comes(thread, guard, graph) for thread in others for guard in guards):
        return None
    return Doubt("only the thread that writes it uses what is read")


def _elects(event: Event, read: Touch, graph: Graph) -> bool:
    """Whether an event stores to the element that was read, and nothing that is made of what was read there; or only
    loads something."""
    if not isinstance(event, AccessEvent):
        return False
    if event.operation != "store" or event.values is None:
        return event.operation == "load"
    if event.target is not read.target or event.offset is not read.offset:
        return False

    # One that compares it with a number of its own, as for the largest one, would have to look again.
    return all(decides_alike(condition, read, graph) for condition in event.context.deciding) and not any(
        is_result(node, read) for node in _opaque(event.values, graph)
    )


def decides_alike(condition: Node, read: Touch, graph: Graph) -> bool:
    """Whether a condition asks of what was read the same for all threads, if it asks of it at all."""
    found = _opaque((condition,), graph)
    return not any(is_result(node, read) for node in found) or (len(found) == 1 and not condition.bits & _OWN_BITS)


def _opaque(nodes: Sequence[Node], graph: Graph) -> list[Node]:
    return [node for node in below(nodes, graph.opaque_bits) if node.op == "opaque"]


class Use(Struct, frozen=True, eq=False):
    """An event that needs values from memory."""

    event: Event
    results: tuple[Node, ...]
    """What unseen computations and loads gave it."""
    guard: tuple[Node, ...]
    """The conditions on threads and blocks alone under which it happens."""


@functools.lru_cache(maxsize=1)
def uses_in(execution: Execution) -> Mapping[Node, Sequence[Use]] | None:
    """What the events of an execution need, which all of its races ask, by the addresses that it was read from; None
    where that is not known for each."""
    graph = execution.view.graph
    found: dict[Node, list[Use]] = {}
    for event in execution.events:
        nodes = _used_by(event)
        if nodes is None:
            return None
        reached = list(below(nodes, graph.opaque_bits))
        if any(map(_hides_values, reached)):
            return None
        results = tuple(node for node in reached if node.op == "opaque" and node.args)
        if results:
            guard = (c for c in event.context.conditions if c.bits & _OWN_BITS and not c.bits & ~_OWN_BITS)
            use = Use(event, results, tuple(guard))
            for address in dict.fromkeys(node.args[0] for node in results):
                found.setdefault(address, []).append(use)
    return found


def _used_by(event: Event) -> tuple[Node, ...] | None:
    """What the effect of an event depends on; None where that is not known."""
    if isinstance(event, AccessEvent | LibraryAccess):
        if event.operation != "load" and event.values is None:
            return None
        opaque = () if event.target.opaque is None else (event.target.opaque,)
        return event.offset, *opaque, *(event.values or ()), *event.context.deciding
    if isinstance(event, LocalIndexEvent):
        return event.index, *event.context.deciding
    return event.context.deciding


def _hides_values(node: Node) -> bool:
    """Whether a number stands for a long computation, of which only some parts are known."""
    return isinstance(node.payload, Reason) and node.payload.kind == "summary"


def is_result(node: Node, read: Touch) -> bool:
    if not isinstance(node.payload, Reason) or not node.args:
        return False
    return node.args[0] is read.offset and read.target in node.payload.memory


def _is_of(node: Node, read: Touch) -> bool:
    """Whether a value is of one read among those of an element: what is loaded on one line is one value."""
    return isinstance(node.payload, Reason) and node.payload.text.endswith(f" at line {read.context.span.line}")


def _threads(conflict: Conflict, execution: Execution) -> Iterator[Thread]:
    x, y, z = execution.view.block
    for block in dict.fromkeys((conflict.one.block, conflict.other.block)):
        for k, j, i in product(range(z), range(y), range(x)):
            yield Thread((i, j, k), block)


def _comes(thread: Thread, guard: Sequence[Node], graph: Graph) -> bool:
    """Whether a thread may come to where these conditions hold."""
    held = (graph.of_thread(condition, thread.thread, thread.block) for condition in guard)
    return not any(condition.is_const and not condition.value for condition in held)
