"""What decides about a value at a place in the program, such as an address, and who gets there: taken apart once for
each access, and read by all that judge it."""

from __future__ import annotations

from msgspec import Struct

from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import Context, Loop
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node, bits_of


class Dependence(Struct, frozen=True, eq=False):
    value: Node
    bits: int
    """The leaves that decide about the value and who gets there."""
    known: tuple[Node, ...]
    """The conditions on the way that can be evaluated: they go by no data. One that never holds is among them."""
    on_sizes: tuple[Node, ...]
    """Those on nothing but sizes and flags."""
    is_never: bool
    """No lane gets there: a condition on the way is known to be false."""
    value_by_data: bool
    """Loaded data, or what else is not followed, decides about the value."""
    lanes_by_data: bool
    """It decides who gets there, or how often."""
    by_data: bool
    """Either of them."""
    is_astray: bool
    """The counter of a loop that the place is not in decides: an earlier one has left a value behind."""


def dependence(context: Context, value: Node, graph: Graph) -> Dependence:
    key = context, value.index
    found = graph.dependences.get(key)
    if not isinstance(found, Dependence):
        found = graph.dependences[key] = _dependence(context, value, graph)
    return found


def _dependence(context: Context, value: Node, graph: Graph) -> Dependence:
    opaque, on_the_way = graph.opaque_bits, bits_of(context.deciding)
    bits = value.bits | on_the_way
    return Dependence(
        value,
        bits,
        tuple([c for c in context.conditions if not c.bits & opaque and not (c.is_const and c.value)]),
        tuple([c for c in context.conditions if c.bits and not c.bits & ~graph.uniform_bits]),
        any(c.is_const and not c.value for c in context.conditions),
        bool(value.bits & opaque),
        bool(on_the_way & opaque),
        bool(bits & opaque),
        _is_left_behind(bits, context.loops, graph),
    )


@heuristic("values-after-loops", "counters: a value that a loop left behind says nothing of its lanes").otherwise(False)
def _is_left_behind(bits: int, loops: tuple[Loop, ...], graph: Graph) -> bool:
    return bool(bits & graph.loop_bits & ~bits_of(loop.counter for loop in loops))
