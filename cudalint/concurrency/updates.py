"""Updates of one element (`*count += 1`) by all threads for which loaded data says so."""

from __future__ import annotations

from collections.abc import Sequence

from cudalint.concurrency.conflicts import Conflict
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent, Touch
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node, Reason, without_cast, without_not
from cudalint.values.opaque_parts import opaque_parts


@heuristic("shared-updates", "counters that all threads increment").otherwise(False)
def is_shared_update(conflict: Conflict, deciding: Sequence[Node], own: int, graph: Graph) -> bool:
    """Whether a conflict is about an element that threads read and write back what they have made of it, all of them
    the same one, each of them where the data that it has loaded fulfils the conditions that decide. Ordinary data
    lets two threads do so: of one that only ever comes alone nobody would add up what it finds. `own` are the leaves in
    which two threads differ."""
    first, second = conflict.first, conflict.second
    if not _is_one_element(conflict, own, graph):
        return False
    if first.context.conditions != second.context.conditions:
        return False
    stores = [end for end in (first, second) if end.operation == "store"]
    others = {end.operation for end in (first, second)} - {"store", "load"}
    if not stores or others or not all(_writes_back(end, graph) for end in stores):
        return False
    return not any(_picks_one(condition, own, graph) for condition in deciding)


def _is_one_element(conflict: Conflict, own: int, graph: Graph) -> bool:
    """Whether all threads come to the same element, whatever the data."""
    offset = conflict.first.offset
    return offset is conflict.second.offset and not offset.bits & (own | graph.opaque_bits | graph.loop_bits)


@heuristic("shared-extremes", "minima that all threads update").otherwise(False)
def is_shared_extreme(conflict: Conflict, deciding: Sequence[Node], own: int, graph: Graph) -> bool:
    """Whether a conflict is about one element for all threads that those replace by their own data for which it is
    larger or smaller than what stands there: at first, ordinary data is so for many of them."""
    if not _is_one_element(conflict, own, graph):
        return False
    stores = [end for end in (conflict.first, conflict.second) if end.operation == "store"]
    return bool(stores) and all(
        any(_stores_what_is_compared(store, condition, own, graph) for condition in deciding) for store in stores
    )


def _stores_what_is_compared(store: Touch, condition: Node, own: int, graph: Graph) -> bool:
    """Whether a thread stores the data that a condition has compared with what stood there."""
    compared = without_not(condition)
    if compared.op not in ("<", "<=") or not isinstance(store, AccessEvent):
        return False
    for other, mine in (compared.args, compared.args[::-1]):
        if _has_read(other, store, graph) and mine.bits & own:
            return any(_is_same_data(mine, value) for value in store.values or ())
    return False


def _is_same_data(a: Node, b: Node) -> bool:
    """Whether two values are one, be it loaded twice."""
    a, b = without_cast(a), without_cast(b)
    if a is b:
        return True
    if not (isinstance(a.payload, Reason) and isinstance(b.payload, Reason) and a.args == b.args):
        return False
    return bool(a.payload.memory) and a.payload.memory == b.payload.memory


def _writes_back(store: Touch, graph: Graph) -> bool:
    """Whether what is stored is made of what stood there."""
    return isinstance(store, AccessEvent) and any(_has_read(value, store, graph) for value in store.values or ())


def _has_read(value: Node, store: AccessEvent, graph: Graph) -> bool:
    """Whether a value is made of what stood where it or another one is stored."""
    parts = opaque_parts(graph, value)
    return any(store.target in reason.memory and part.args[:1] == (store.offset,) for part, reason in parts)


def _picks_one(condition: Node, own: int, graph: Graph) -> bool:
    """Whether a number that was loaded for all threads names the one that comes: `threadIdx.x == leader[0]`."""
    return condition.op == "==" and not any(part.bits & own for part, _ in opaque_parts(graph, condition))
