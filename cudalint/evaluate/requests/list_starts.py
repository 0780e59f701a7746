"""The arrays of a kernel that hold where lists begin: what a loop shows of one access holds for the others."""

from __future__ import annotations

from cudalint.evaluate.requests.lists import Lists
from cudalint.evaluate.requests.requests import gather
from cudalint.evaluate.requests.views import LaunchView
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent, is_astray
from cudalint.interpreter.device.values import Allocation
from cudalint.values.nodes import Node, Reason
from cudalint.values.opaque_parts import opaque_parts


@heuristic("list-starts", "counters of sparse matrices and graphs").otherwise(False)
def is_list_start(part: Node, view: LaunchView) -> bool:
    """Whether a number was loaded from an array that holds starts of lists: `first[row]` and `first[row + 1]`, where
    the kernel goes through a list from one to the other, wherever else it uses them."""
    memory = _memory(part)
    return memory is not None and memory in _starts(view)


def _starts(view: LaunchView) -> frozenset[object]:
    if view.starts is None:
        found = (_shown_by(event, view) for event in view.events if isinstance(event, AccessEvent))
        view.starts = frozenset(memory for memories in found for memory in memories)
    return view.starts


def _shown_by(event: AccessEvent, view: LaunchView) -> set[object]:
    """The arrays from which the lists come that lanes walk through in the loop around an access."""
    graph, loops = view.graph, event.context.loops
    bits = event.offset.bits
    if event.target.space != "global" or not loops or not bits & graph.opaque_bits & ~graph.loop_bits:
        return set()
    if not bits & loops[-1].counter.bits or not loops[-1].condition.bits & graph.opaque_bits:
        return set()
    if is_astray(event.offset, event.context, graph):
        return set()
    situation = view.quick()
    conditions = tuple(c for c in event.context.conditions if not c.bits & graph.opaque_bits)
    quick = gather(event, situation, conditions)
    if quick.total == 0:
        return set()
    lists = Lists(event, situation.rows(loops), situation.lanes(loops, quick.mask))
    parts = (part for part, _ in opaque_parts(graph, event.offset) if lists.are_starts(part))
    return {memory for memory in map(_memory, parts) if memory is not None}


def _memory(part: Node) -> object:
    """The array that a number was loaded from; None where it is something else."""
    reason = part.payload
    if part.op != "opaque" or not isinstance(reason, Reason) or not reason.memory:
        return None
    target = reason.memory[0]
    return (target.same_as or target) if isinstance(target, Allocation) else None
