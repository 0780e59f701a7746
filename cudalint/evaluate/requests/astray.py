"""Values that an earlier loop left behind."""

from __future__ import annotations

from cudalint.evaluate.execute.events import Context
from cudalint.evaluate.symbolic.graph import Graph
from cudalint.evaluate.symbolic.nodes import Node


def is_astray(value: Node, context: Context, graph: Graph) -> bool:
    """Whether a value, or who comes to its place, depends on the counter of a loop that the place is not in."""
    own, bits = 0, value.bits
    for loop in context.loops:
        own |= loop.counter.bits
        bits |= loop.condition.bits
    for condition in context.conditions:
        bits |= condition.bits
    return bool(bits & graph.loop_bits & ~own)
