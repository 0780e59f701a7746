"""The functions that count, find and turn bits (CUDA C++ Programming Guide, "Integer Intrinsics"; GCC manual, "Bit
Operation Builtins"), put together from operations that stay exact for each lane."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cudalint.host.executor import expressions
from cudalint.host.executor.values import Value
from cudalint.host.values.arithmetic import BOOL, F8, I4, U4, kind_of
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

_HALVES = ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF))
"""A distance, and the bits whose partner stands this far to the left."""


def of_a_word(name: str) -> Callable[..., Any]:
    """A handler for a function of one word of 32 bits."""
    function = _FUNCTIONS[name]

    def handler(ex: Execution, call: ir.Call) -> Value | None:
        if len(call.arguments) != 1 or not isinstance(call.type, ir.Scalar):
            return None
        argument = expressions.number(ex, call.arguments[0])
        if argument.bits & ex.graph.opaque_bits:
            # Of what can't be followed only is known what it depends on.
            return ex.opaque(f"it is the result of `{call.name}`", call.type, (argument,), call.span)
        word = ex.graph.convert(argument, U4)
        return ex.graph.convert(function(ex.graph, word), kind_of(call.type))

    return handler


def _highest(graph: Graph, word: Node) -> Node:
    """The number of the highest bit that is set; a logarithm of 32 bits is exact enough in double precision."""
    return graph.convert(graph.function("floor", graph.function("log2", graph.convert(word, F8), F8), F8), I4)


def leading_zeros(graph: Graph, word: Node) -> Node:
    """`__clz`: 32 for zero."""
    zeros = graph.binary("-", graph.const(31), _highest(graph, word), I4)
    return graph.select(graph.binary("==", word, graph.const(0, U4), BOOL), graph.const(32), zeros)


def first_set(graph: Graph, word: Node) -> Node:
    """`__ffs`: from 1, and 0 for zero."""
    negated = graph.binary("-", graph.const(0, U4), word, U4)
    lowest = graph.binary("+", _highest(graph, graph.binary("&", word, negated, U4)), graph.const(1), I4)
    return graph.select(graph.binary("==", word, graph.const(0, U4), BOOL), graph.const(0), lowest)


def trailing_zeros(graph: Graph, word: Node) -> Node:
    """`__builtin_ctz`, which nobody may ask for zero."""
    return graph.binary("-", first_set(graph, word), graph.one, I4)


def ones(graph: Graph, word: Node) -> Node:
    """`__popc`: neighbouring counts are added, pair by pair."""
    for distance, mask in _HALVES:
        left, right = _halves(graph, word, distance, mask)
        word = graph.binary("+", left, right, U4)
    return word


def reversed_word(graph: Graph, word: Node) -> Node:
    """`__brev`: neighbours change places, then pairs of them, and so on."""
    for distance, mask in _HALVES:
        left, right = _halves(graph, word, distance, mask)
        word = graph.binary("|", left, graph.binary("<<", right, graph.const(distance), U4), U4)
    return word


def _halves(graph: Graph, word: Node, distance: int, mask: int) -> tuple[Node, Node]:
    bits = graph.const(mask, U4)
    left = graph.binary("&", graph.binary(">>", word, graph.const(distance), U4), bits, U4)
    return left, graph.binary("&", word, bits, U4)


_FUNCTIONS: Mapping[str, Callable[[Graph, Node], Node]] = {
    "leading-zeros": leading_zeros, "trailing-zeros": trailing_zeros, "first-set": first_set, "ones": ones,
    "reversed-word": reversed_word,
}  # fmt: skip
