"""What a race depends on, and what is asked of its two ends to tell."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from cudalint.concurrency.conflicts import Conflict
from cudalint.concurrency.trial import Trial
from cudalint.interpreter.device.events import Touch
from cudalint.interpreter.device.values import Allocation
from cudalint.options.analysis import RaceScope
from cudalint.values.graph import Graph, conjuncts
from cudalint.values.nodes import BLOCK_BITS, THREAD_BITS, Node, Reason
from cudalint.values.opaque_parts import opaque_parts


class Doubt(Struct, frozen=True):
    """What a race depends on."""

    reason: str
    size: str | None = None
    """The plain size that it depends on, where it is there for most sizes."""
    usual: bool = False
    """It is there for ordinary data: as soon as two numbers are equal, or two threads find what they look for."""
    excludes: bool = False
    """The two accesses cannot happen in one run at all."""
    unfinished: bool = False
    """There is too much to look at for anybody to tell."""


def conditions_of(graph: Graph, touch: Touch) -> list[Node]:
    """The conditions under which a thread gets there, those of its loops included."""
    return [part for condition in touch.context.deciding for part in conjuncts(graph, condition)]


def own_leaves(conflict: Conflict) -> int:
    """The leaves in which the two threads differ."""
    return THREAD_BITS | (BLOCK_BITS if conflict.reach == "grid" else 0)


def is_there_again(conflict: Conflict, trial: Trial, touches: Sequence[Touch], size: int | None) -> bool:
    """Whether the same two accesses conflict in another trial."""
    scope: RaceScope = "grid" if conflict.reach == "grid" else "block"
    return trial.has_conflict(conflict.sites, touches, size, scope)


def decided_by_data(end: Touch, conflict: Conflict, graph: Graph) -> list[Node]:
    """The conditions by which loaded data decides, thread by thread, who gets to one end."""
    decided = [c for c in conditions_of(graph, end) if c.bits & graph.opaque_bits]
    return [c for c in decided if not is_one_for_both(c, conflict, graph)]


def is_one_for_both(condition: Node, conflict: Conflict, graph: Graph) -> bool:
    """Whether a condition on loaded data asks both threads of a conflict the same. Shared memory holds something else
    in each block."""
    if condition.bits & own_leaves(conflict):
        return False
    return conflict.reach != "grid" or not any(_is_shared(reason) for _, reason in opaque_parts(graph, condition))


def _is_shared(reason: Reason) -> bool:
    return any(isinstance(memory, Allocation) and memory.space == "shared" for memory in reason.memory)
