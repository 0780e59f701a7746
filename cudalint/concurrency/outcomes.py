"""Races whose outcome is the same in either order: a read that nobody uses, an update that changes nothing when it is
made again, a branch that stores the same whoever takes it.

They are undefined by the letter of the language all the same. What is asked here is asked of the expressions and not of
some numbers for them, so that an answer holds for all data; where anything is not followed, there is none.
"""

from __future__ import annotations

from collections.abc import Sequence

from cudalint.codegen.unread import does_nothing_else
from cudalint.concurrency.conflicts import Conflict
from cudalint.concurrency.doubts.unused import Use, decides_alike, is_result, uses_in
from cudalint.evaluate.requests.execution import Execution
from cudalint.facts import Benign
from cudalint.interpreter.device.events import AccessEvent, Touch
from cudalint.values.graph import Graph
from cudalint.values.nodes import BLOCK_BITS, OPAQUE_BIT, THREAD_BITS, Node, below

_OWN_BITS = THREAD_BITS | BLOCK_BITS
_IDEMPOTENT = frozenset({"|", "&", "min", "max"})
"""Operations that change nothing when they are done again with the same operand."""


def same_either_way(conflict: Conflict, graph: Graph, execution: Execution) -> Benign | None:
    """Why it doesn't matter which of a read and a store comes first; None where it may."""
    ends = (conflict.first, conflict.second)
    reads, stores = ([end for end in ends if end.operation == kind] for kind in ("load", "store"))
    if len(reads) != 1 or len(stores) != 1 or execution.unseen or not execution.complete:
        return None
    (read,), (store,) = reads, stores
    uses = uses_in(execution)
    if uses is None or not isinstance(read, AccessEvent) or not isinstance(store, AccessEvent):
        return None
    # Another read of the element is not told from this one.
    own = [use for use in uses.get(read.offset, ()) if any(is_result(node, read) for node in use.results)]
    if not own:
        return "unused-read" if does_nothing_else(execution) else None
    if _is_repeated(store, read, own, graph):
        return "same-value"
    return "same-branch" if _is_one_branch(store, read, own, graph) else None


def _is_repeated(store: AccessEvent, read: Touch, uses: Sequence[Use], graph: Graph) -> bool:
    """Whether what is read goes into nothing but the store to the element, which stores the same if it is made again
    with what it has stored: `flags |= 1` of all threads."""
    if store.values is None or len(store.values) != 1 or not _is_of_element(store, read):
        return False
    (value,) = store.values
    return _is_idempotent(value, read) and all(
        isinstance(use.event, AccessEvent)
        and use.event.operation == "store"
        and use.event.values == store.values
        and _is_of_element(use.event, read)
        and not any(_is_made_of(condition, read, graph) for condition in use.event.context.deciding)
        for use in uses
    )


def _is_idempotent(value: Node, read: Touch) -> bool:
    """Whether it is what was read, combined with a number that all threads have in a way that makes no difference the
    second time."""
    if value.op not in _IDEMPOTENT or len(value.args) != 2:
        return False
    was_read = [argument for argument in value.args if is_result(argument, read)]
    others = [argument for argument in value.args if not is_result(argument, read)]
    return len(was_read) == len(others) == 1 and not others[0].bits & (_OWN_BITS | OPAQUE_BIT)


def _is_one_branch(store: AccessEvent, read: Touch, uses: Sequence[Use], graph: Graph) -> bool:
    """Whether what is read decides about nothing but stores that are the same for all threads, all of which whoever
    makes the store to the element makes as well: `if (!*done) { *done = 1; *changed = 1; }`. Whoever comes first makes
    them all."""
    on_the_way = set(store.context.deciding)
    return _is_of_element(store, read) and all(
        isinstance(use.event, AccessEvent)
        and use.event.operation == "store"
        and use.event.values is not None
        and not any(node.bits & (_OWN_BITS | OPAQUE_BIT) for node in use.event.values)
        and (_is_of_element(use.event, read) or not use.event.offset.bits & (_OWN_BITS | OPAQUE_BIT))
        and use.event.target.opaque is None
        and on_the_way.issuperset(use.event.context.deciding)
        and all(decides_alike(condition, read, graph) for condition in use.event.context.deciding)
        for use in uses
    )


def _is_of_element(event: AccessEvent, read: Touch) -> bool:
    return event.target is read.target and event.offset is read.offset and event.bytes == read.bytes


def _is_made_of(node: Node, read: Touch, graph: Graph) -> bool:
    return any(is_result(each, read) for each in below((node,), graph.opaque_bits))
