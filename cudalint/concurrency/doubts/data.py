"""What loaded data has to do with the addresses of a race."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from cudalint.concurrency.conflicts import Conflict
from cudalint.concurrency.doubts.arrays import start_of
from cudalint.concurrency.doubts.doubt import Doubt, decided_by_data, is_there_again
from cudalint.concurrency.lanes import is_up_to_data, memory_of
from cudalint.concurrency.trial import Trial
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import Touch
from cudalint.interpreter.device.values import Allocation
from cudalint.values.graph import Graph
from cudalint.values.memory_data import Data
from cudalint.values.nodes import THREAD_BITS, Node, Reason
from cudalint.values.opaque_parts import opaque_parts

_DATA: tuple[Data, ...] = ("zero", "place")
"""What memory may hold as well. Two threads that meet whatever it holds meet for certain."""


@heuristic("doubt-far-on", "races of late iterations").otherwise(None)
def far_on(conflict: Conflict, trial: Trial, touches: Sequence[Touch], size: int | None) -> Doubt | None:
    """Loops that loaded data ends, and that come to the element late: `for (i = t; i < count[b]; i += 256) s[i] = ...`
    leaves what lies behind the first elements alone if no count is as large as that."""
    for end in (conflict.first, conflict.second):
        for loop in end.context.loops:
            if loop.condition.bits & trial.graph.opaque_bits and end.offset.bits & loop.counter.bits:
                reasons = [reason for _, reason in opaque_parts(trial.graph, loop.condition)]
                # What data counts on, as in `while (i < n && j < m)`, may end even that loop earlier.
                is_counted = not any(reason.kind == "iteration" for reason in reasons)
                if is_counted and is_there_again(conflict, trial.under({}, is_brief=True), touches, size):
                    return None
                return Doubt(f"it depends on data how often a loop goes round: {reasons[0].text}")
    return None


@heuristic("doubt-loaded-addresses", "addresses that were loaded may be all different").otherwise(None)
def addresses(conflict: Conflict, trial: Trial, touches: Sequence[Touch], size: int | None) -> Doubt | None:
    """Addresses made from loaded data: a race is certain if the threads meet whatever the data is."""
    graph = trial.graph
    opaque = [part for end in (conflict.first, conflict.second) for part in opaque_parts(graph, end.offset)]
    if not opaque:
        return None
    text = f"the address depends on data: {opaque[0][1].text}"
    if not all(is_loaded(graph, part, reason) for part, reason in opaque):
        return Doubt(text)
    if conflict.reach == "grid":
        return None if is_crowded(conflict, trial, touches, size) else Doubt(text)
    if _decide_who_comes(dict(opaque), conflict, graph):
        # `if (key[i] != key[i - 1]) first[key[i]] = i`: in sorted data each number begins once.
        return Doubt(text)
    for data in _DATA:
        if not is_there_again(conflict, trial.under({}, data), touches, size):
            crowded = is_crowded(conflict, trial, touches, size)
            return None if crowded else Doubt(text, usual=_is_usual(conflict, graph))
    return None


def is_crowded(conflict: Conflict, trial: Trial, touches: Sequence[Touch], size: int | None) -> bool:
    """Whether there are more threads in the grid than elements that the data leads to, as in a histogram of bytes: even
    if each thread has loaded a number of its own, some update one element. That few numbers may leave each thread an
    element of its own is nothing that a histogram is for."""
    if conflict.first.target.space != "global" or not trial.has_neighbours:
        return False
    if not _updates_by_data(conflict, trial.graph):
        return False
    return trial.under({}, "place", is_crowd=True).has_conflict(conflict.sites, touches, size, "grid")


def is_loaded(graph: Graph, part: Node, reason: Reason) -> bool:
    """Whether a value was loaded, from a place that is known or was loaded itself: where it could not be followed, the
    threads may well have found it in different places."""
    if not reason.data or reason.kind == "iteration":
        return False
    inner = [found for argument in part.args for found in opaque_parts(graph, argument)]
    return all(is_loaded(graph, *found) for found in inner)


def _decide_who_comes(data: Mapping[Node, Reason], conflict: Conflict, graph: Graph) -> bool:
    """Whether an array that an address is computed from also decides, by other elements, thread by thread, who gets
    there. What an element says of itself lets all pass that have its value."""
    sources = {_source(reason) for reason in data.values()}
    for end in (conflict.first, conflict.second):
        own = {part for part, _ in opaque_parts(graph, end.offset)}
        parts = [known for c in decided_by_data(end, conflict, graph) for known in opaque_parts(graph, c)]
        if any(part not in own and _source(reason) in sources for part, reason in parts):
            return True
    return False


def is_loaded_from(arrays: Collection[object], reason: Reason) -> bool:
    """Whether a value was loaded from one of some arrays."""
    return any(isinstance(memory, Allocation) and memory_of(memory) in arrays for memory in reason.memory)


def _source(reason: Reason) -> object:
    """Where a value comes from, wherever it is loaded: conditions and addresses load the same elements twice."""
    return reason.memory[:1] or reason.text


def _is_usual(conflict: Conflict, graph: Graph) -> bool:
    """Whether ordinary data makes threads meet in shared memory: where they add to elements of which nothing else says
    whose they are, as in a histogram, and where such elements are touched as each thread's own as well."""
    first, second = conflict.first, conflict.second
    if first.target.space != "shared":
        return False
    if first.offset is second.offset:
        return _updates_by_data(conflict, graph)
    if first.target.symbol is not None and first.target.symbol.storage == "dynamic-shared" and (
        start_of(first.offset, graph) is not start_of(second.offset, graph)
    ):
        # One buffer is several arrays there, and data leads into its own one.
        return False
    ends = (first.offset, second.offset)
    return any(is_up_to_data(a, graph) and _is_of_the_thread(b, graph) for a, b in (ends, ends[::-1]))


def _updates_by_data(conflict: Conflict, graph: Graph) -> bool:
    """Whether threads read and write one element, which data alone chooses: `counts[in[i]]++`."""
    first, second = conflict.first, conflict.second
    if first.offset is not second.offset or {first.operation, second.operation} != {"load", "store"}:
        return False
    return is_up_to_data(second.offset, graph)


def _is_of_the_thread(offset: Node, graph: Graph) -> bool:
    return bool(offset.bits & THREAD_BITS) and not offset.bits & graph.opaque_bits
