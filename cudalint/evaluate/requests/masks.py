"""Active lanes that depend on loaded data: when a figure is still worth giving, and under which conditions.

Where the addresses of all lanes are known and only a guard looks at data (`if (d[i] < limit) out[i] = ...`), a request
costs something between one lane's share and that of all. What evenly spread data would cost is a figure to go by, as a
range. In a loop that each lane leaves on its own account, lanes drop out as random data has it: by how far apart two
loaded limits are, or by chance in every iteration. One case remains without a figure: under several guards that differ
from lane to lane it is anyone's guess how many lanes are left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent
from cudalint.values.graph import Graph, conjuncts
from cudalint.values.nodes import BLOCK_BITS, THREAD_BITS, Node, Reason
from cudalint.values.opaque_parts import asks_for_a_number, opaque_parts
from cudalint.values.varying import Lanes

_MAX_LANEWISE = 1


@heuristic("guards-by-data", "counters: one guard that tells lanes apart by data is a coin's toss").otherwise(None)
def guards_by_data(
    event: AccessEvent, graph: Graph, lanes: Lanes
) -> tuple[Node, ...] | None:
    """The conditions on data that tell lanes of a warp apart, to be evaluated for random data; None where that says
    nothing about real data. Conditions on which a warp agrees are left out: requests exist where they hold. So are
    those of the loops around, which end by data where rows follow it, and comparisons with a size in memory."""
    heads = {part.index for loop in event.context.loops for part in conjuncts(graph, loop.condition)}
    found: list[Node] = []
    lanewise = 0
    for condition in event.context.conditions:
        if not condition.bits & graph.opaque_bits:
            continue
        parts = opaque_parts(graph, condition)
        if any(not reason.data for _, reason in parts):
            return None
        if asks_for_a_number(graph, condition):
            continue
        if any(lanes.vary(part) for part, _ in parts):
            lanewise += condition.index not in heads
        elif not lanes.vary(condition) or _is_a_size(graph, [part for part, _ in parts]):
            continue
        if condition.index not in heads:
            found.append(condition)
    return None if lanewise > _MAX_LANEWISE else tuple(found)


def cut_by_data(event: AccessEvent, graph: Graph, lanes: Lanes) -> Iterator[Reason]:
    """Where data that all lanes of a warp agree on is compared with what they don't (`if (tid < count[row])`), why it
    is not known: a warp of which some lanes are beyond it makes smaller requests than the figure says. With a size
    that each thread of the grid is compared with, only the last warp of all is such a one."""
    heads = (part for loop in event.context.loops for part in conjuncts(graph, loop.condition))
    for condition in dict.fromkeys((*event.context.conditions, *heads)):
        if not condition.bits & graph.opaque_bits or asks_for_a_number(graph, condition):
            continue
        parts = opaque_parts(graph, condition)
        is_of_grid = condition.bits & BLOCK_BITS and _is_a_size(graph, [part for part, _ in parts])
        if is_of_grid or any(lanes.vary(part) for part, _ in parts):
            continue
        if lanes.is_compared(condition):
            yield parts[0][1]


def _is_a_size(graph: Graph, loaded: Sequence[Node]) -> bool:
    """Whether data that lanes are compared with is one number for the whole launch (`i < *count`): a program is written
    for large ones, as of arguments."""
    return not any(part.bits & (THREAD_BITS | BLOCK_BITS | graph.loop_bits) for part in loaded)
