"""What guards the accesses of a race: conditions that exclude each other, data that decides who comes, locks."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from cudalint.concurrency.conflicts import Conflict
from cudalint.concurrency.doubts.data import is_loaded, is_loaded_from
from cudalint.concurrency.doubts.doubt import Doubt, conditions_of, decided_by_data, is_one_for_both, own_leaves
from cudalint.concurrency.doubts.last_block import LateTurn
from cudalint.concurrency.lanes import memory_of
from cudalint.concurrency.updates import is_shared_extreme, is_shared_update
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent, Event, FenceEvent
from cudalint.scenarios.solving import satisfy
from cudalint.values.graph import Graph, conjuncts
from cudalint.values.nodes import Node, Reason, bits_of, without_not
from cudalint.values.opaque_parts import opaque_parts


@heuristic("doubt-contradiction", "guards that exclude each other").otherwise(None)
def contradiction(conflict: Conflict, graph: Graph) -> Doubt | None:
    """Conditions on what both threads share, of which one end needs the opposite of what the other end needs."""
    first, second = (
        [
            c for c in conditions_of(graph, end)
            if c.bits & graph.opaque_bits and not c.bits & graph.loop_bits and is_one_for_both(c, conflict, graph)
        ]
        for end in (conflict.first, conflict.second)
    )  # fmt: skip
    if not first or not second or set(first) == set(second):
        return None
    if _denies(first, second, graph) or _denies(second, first, graph):
        return Doubt("the two accesses are on opposite sides of one condition", excludes=True)
    together = [*first, *second]
    atoms = list(dict.fromkeys(part for c in together for part, _ in opaque_parts(graph, c)))
    bits = bits_of(atoms)
    if any(c.bits & ~bits for c in together) or len(atoms) > 4:
        return None
    if satisfy(graph, together, atoms) is None:
        return Doubt("it depends on whether both accesses can happen in one run")
    return None


def _denies(some: Sequence[Node], others: Sequence[Node], graph: Graph) -> bool:
    """Whether one of some conditions is false where the others hold, whatever the comparisons in it are about."""
    held = set(others)
    return any(_truth(condition, held, graph) is False for condition in some)


def _truth(condition: Node, held: set[Node], graph: Graph) -> bool | None:
    """Whether a condition holds where others do; None where they do not say."""
    if condition in held:
        return True
    if held.issuperset(conjuncts(graph, graph.negate(condition))):
        return False
    if condition.op not in ("!", "&&", "||"):
        return None
    parts = [_truth(part, held, graph) for part in condition.args]
    if condition.op == "!":
        return None if parts[0] is None else not parts[0]
    decisive = condition.op == "||"
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


@heuristic("doubt-guarded-by-data", "one thread is chosen by data").otherwise(None)
def by_data(graph: Graph, conflict: Conflict, late: LateTurn | None) -> Doubt | None:
    """Loaded data that decides, thread by thread, who gets there; but for a number that one of the blocks draws."""
    allowed = late.turn.condition if late is not None else None
    guarded = 0
    looks_first = False
    doubt: Doubt | None = None
    deciding: list[Node] = []
    for end in (conflict.first, conflict.second):
        varying = [c for c in decided_by_data(end, conflict, graph) if c is not allowed]
        deciding += varying
        for condition in varying:
            reasons = [reason for _, reason in opaque_parts(graph, condition)]
            doubt = Doubt(_depends(reasons))
            if any(not reason.data for reason in reasons):
                return doubt
            # `if (d[u] + w < d[v]) d[v] = d[u] + w`: what the array holds may keep the threads apart for good.
            looks_first = looks_first or any(is_loaded_from({memory_of(end.target)}, reason) for reason in reasons)
        guarded += bool(varying)
    if conflict.reach != "grid" and not (looks_first and conflict.first.target.space != "shared") and guarded < 2:
        return None
    is_ordinary = is_shared_extreme if looks_first else is_shared_update
    if doubt is None or not is_ordinary(conflict, deciding, own_leaves(conflict), graph):
        return doubt
    parts = (known for condition in deciding for known in opaque_parts(graph, condition))
    return replace(doubt, usual=all(is_loaded(graph, *known) for known in parts))


def _depends(reasons: Sequence[Reason]) -> str:
    text = reasons[0].text if reasons else "a value is not known"
    return f"it depends on data: {text}"


@heuristic("doubt-signals", "locks and flags").otherwise(None)
def signals(graph: Graph, conflict: Conflict, events: Sequence[Event], late: LateTurn | None) -> Doubt | None:
    """Threads that wait for each other by flags in memory, or take locks."""
    if conflict.first.target.space != "shared" and (_has_fence(events) or _spins(graph, events)):
        return Doubt("the kernel orders threads by memory fences, flags or locks, which are not followed")
    ends = (conflict.first, conflict.second)
    allowed = late.turn.condition if late is not None else None
    asked = (part for end in ends for part in conditions_of(graph, end) if part is not allowed)
    if any(_is_atomic_result(graph, part) for part in asked):
        return Doubt("it depends on the result of an atomic, by which threads may take turns")
    return None


def _has_fence(events: Sequence[Event]) -> bool:
    return any(isinstance(event, FenceEvent) for event in events)


def _spins(graph: Graph, events: Sequence[Event]) -> bool:
    """Whether a loop goes on for as long as global memory says so that the kernel also writes, or until it has a lock.
    """
    written = {memory_of(e.target) for e in events if isinstance(e, AccessEvent) and e.operation != "load"}
    loops = {loop for e in events if isinstance(e, AccessEvent) for loop in e.context.loops}
    conditions = [loop.condition for loop in loops if loop.condition.bits & graph.opaque_bits]
    return any(_takes_lock(condition, graph) for condition in conditions) or any(
        is_loaded_from(written, reason) for condition in conditions for _, reason in opaque_parts(graph, condition)
    )


def _takes_lock(condition: Node, graph: Graph) -> bool:
    """Whether a loop waits for an atomic to find a number, as in `while (atomicCAS(lock, 0, 1) != 0)`. One that updates
    a value compares what two atomics have found."""
    compared = without_not(condition)
    has_number = compared.op in ("==", "!=") and any(argument.is_const for argument in compared.args)
    return has_number and _is_atomic_result(graph, condition)


def _is_atomic_result(graph: Graph, condition: Node) -> bool:
    if not condition.bits & graph.opaque_bits:
        return False
    return any(reason.kind == "atomic" for _, reason in opaque_parts(graph, condition))
