"""What the search for races leaves out, so that silence about it is not taken for proof."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from cudalint.concurrency.lanes import effect
from cudalint.evaluate.requests.execution import Execution
from cudalint.hardware.requests import WARP_LANES
from cudalint.interpreter.device.events import AccessEvent, BarrierEvent, LibraryAccess, Touch, is_astray
from cudalint.interpreter.device.values import UNNAMED, Allocation
from cudalint.values.assumptions import holds
from cudalint.values.graph import Graph
from cudalint.values.nodes import THREAD_BITS, Node


def left_out(execution: Execution, situations: Sequence[Mapping[Node, int | float]] | None) -> Iterator[str]:
    """Sentences about accesses to arrays that are written, and about barriers that are taken on trust; `situations` are
    the sizes and flags that are looked at, None where there is nothing to look at in any."""
    graph = execution.view.graph
    touches = [e for e in execution.events if isinstance(e, (AccessEvent, LibraryAccess)) and _is_shared(e)]
    known: Known = {}
    written = {touch.target.name for touch in touches if effect(touch) != "load"}
    for touch in touches:
        name, line = touch.target.name, touch.context.span.line
        if name not in written:
            continue
        if touch.target.space == "generic" or not is_one_array(touch.target, graph):
            pointer = f"`{name}`" if name != UNNAMED else f"the pointer at line {line}"
            yield f"races through {pointer} were not looked for: threads have pointers of their own"
        elif is_astray(touch.offset, touch.context, graph):
            yield f"races of `{name}` at line {line} were not looked for: an earlier loop decides on it"
        elif situations is not None and not is_met(touch, graph, situations, known):
            yield f"races of `{name}` at line {line} were not looked for: no sizes were found that lead there"
    for event in execution.events:
        if isinstance(event, BarrierEvent) and event.scope == "warp" and not _waits_for_all(event, execution):
            line = event.context.span.line
            yield f"the `__syncwarp` at line {line} is taken to order all lanes, and its mask may name fewer"


def is_one_array(target: Allocation, graph: Graph, bits: int = THREAD_BITS) -> bool:
    """Whether a pointer is the same for all threads of a block (or, with other `bits`, of the grid)."""
    return target.opaque is None or not target.opaque.bits & (bits | graph.loop_bits)


Known = dict[tuple[Node, int], bool]
"""Whether a condition holds in the situation of a number: the branches of a long `else if` share theirs."""


def is_met(touch: Touch, graph: Graph, situations: Sequence[Mapping[Node, int | float]], known: Known) -> bool:
    """Whether sizes and flags let threads get to an access in one of the situations."""

    def holds_in(condition: Node, number: int) -> bool:
        if (condition, number) not in known:
            known[condition, number] = holds(graph, condition, situations[number])
        return known[condition, number]

    wanted = on_sizes(touch, graph)
    return not wanted or any(all(holds_in(c, number) for c in wanted) for number in range(len(situations)))


def on_sizes(touch: Touch, graph: Graph) -> list[Node]:
    """The conditions on nothing but sizes and flags under which an access is reached."""
    return [c for c in touch.context.conditions if c.bits and not c.bits & ~graph.uniform_bits]


def size_guards(execution: Execution) -> list[Node]:
    """The conditions on nothing but sizes and flags under which the host code comes to the launch."""
    bits = execution.view.graph.uniform_bits
    return [g for g in execution.view.guards if g.bits and not g.bits & ~bits]


def _is_shared(touch: Touch) -> bool:
    return touch.target.space not in ("local", "constant") and not touch.target.is_null


def _waits_for_all(barrier: BarrierEvent, execution: Execution) -> bool:
    mask, lanes = barrier.mask, (1 << min(math.prod(execution.view.block), WARP_LANES)) - 1
    return barrier.implied or mask is None or (mask.is_const and int(mask.value) & lanes == lanes)
