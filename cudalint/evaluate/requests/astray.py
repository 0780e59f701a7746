"""Values that an earlier loop left behind."""

from __future__ import annotations

from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import Context, depends_on
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node, bits_of


@heuristic("values-after-loops", "counters: a value that a loop left behind says nothing of its lanes").otherwise(False)
def is_astray(value: Node, context: Context, graph: Graph) -> bool:
    """Whether a value, or who comes to its place, depends on the counter of a loop that the place is not in."""
    own, bits = bits_of(loop.counter for loop in context.loops), depends_on(context, value)
    return bool(bits & graph.loop_bits & ~own)
