"""What built-in functions do that host code may call, too, by effect and by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cudalint.host.executor import expressions
from cudalint.host.executor.conversions import as_number
from cudalint.host.executor.copies import COPIES
from cudalint.host.executor.values import Choice, Pointer, Value
from cudalint.host.values.arithmetic import BOOL, F8, I4, U4, kind_of
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, Stride, without_cast
from cudalint.ir import nodes as ir
from cudalint.ir.builtins import BUILTINS, Builtin

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

Handler = Callable[..., Any]
"""Takes the executor and the call; returns a value or a place, or None to let the call be treated as any other."""


# --- arithmetic -------------------------------------------------------------------------------------------


def _numbers(ex: Execution, call: ir.Call) -> list[Node]:
    return [expressions.number(ex, a) for a in call.arguments]


def _extremum(op: str) -> Handler:
    def handler(ex: Execution, call: ir.Call) -> Value | None:
        if len(call.arguments) < 2 or not isinstance(ir.referent(call.type), ir.Scalar):
            return None
        a, b = _numbers(ex, call)[:2]
        # std::min returns a reference.
        return ex.graph.binary(op, a, b, kind_of(ir.referent(call.type)))

    return handler


def _absolute(ex: Execution, call: ir.Call) -> Value | None:
    if not isinstance(call.type, ir.Scalar):
        return None
    graph, kind = ex.graph, kind_of(call.type)
    a = graph.convert(_numbers(ex, call)[0], kind)
    negative = graph.binary("<", a, graph.const(0, kind), BOOL)
    return graph.select(negative, graph.binary("-", graph.const(0, kind), a, kind), a)


def _function(name: str) -> Handler:
    def handler(ex: Execution, call: ir.Call) -> Value | None:
        if len(call.arguments) != 1 or not isinstance(call.type, ir.Scalar):
            return None
        return ex.graph.function(name, _numbers(ex, call)[0], kind_of(call.type))

    return handler


def _rounded(name: str) -> Handler:
    """__float2int_rd and the like: round, then convert."""

    def handler(ex: Execution, call: ir.Call) -> Value:
        a = _numbers(ex, call)[0]
        if name and a.kind.is_float:
            a = ex.graph.function(name, a, F8)
        return ex.graph.convert(a, kind_of(call.type))

    return handler


def _power(ex: Execution, call: ir.Call) -> Value | None:
    numbers = _numbers(ex, call)
    if len(numbers) != 2:
        return None
    base, exponent, kind = *numbers, kind_of(call.type)
    if exponent.is_const and exponent.value == 2:
        base = ex.graph.convert(base, kind)
        return ex.graph.binary("*", base, base, kind)
    if (base.bits | exponent.bits) & ex.graph.opaque_bits:
        return ex.unknown("of `pow`", call.type, (base, exponent))
    return ex.graph.binary("pow", base, exponent, kind)


def _end(ex: Execution, call: ir.Call) -> Value:
    ex.state.dead = True
    return ex.graph.zero


def _first(ex: Execution, call: ir.Call) -> Value:
    """Functions that give their argument back: conversions between address spaces, __builtin_expect."""
    values = [expressions.evaluate(ex, a) for a in call.arguments]
    if isinstance(call.type, ir.Scalar) and isinstance(values[0], (Pointer, Choice)):
        return as_number(ex, values[0], call.arguments[0].type)
    return values[0]


_STRIDES: Sequence[Stride] = ("any", "outer", "inner")
"""As the bundled headers number them."""


def _stride(ex: Execution, call: ir.Call) -> Value:
    """`_cudalint_stride(stride, kind)` of the bundled headers: notes that the first argument is a tensor's stride."""
    value, kind = _numbers(ex, call)
    bare = without_cast(value)
    if bare.op == "uniform" and not ex.graph.choice(bare).is_default and kind.is_const:
        ex.graph.mark_stride(bare, _STRIDES[int(kind.value)])
    return value


# --- bits ------------------------------------------------------------------------------------------------


_HALVES = ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F), (8, 0x00FF00FF), (16, 0x0000FFFF))
"""A distance, and the bits whose partner stands this far to the left."""


def _of_a_word(name: str) -> Handler | None:
    """A handler for a function of one word of 32 bits."""
    function = _FUNCTIONS.get(name)
    if function is None:
        return None

    def handler(ex: Execution, call: ir.Call) -> Value | None:
        if len(call.arguments) != 1 or not isinstance(call.type, ir.Scalar):
            return None
        argument = expressions.number(ex, call.arguments[0])
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


def _halves(graph: Graph, word: Node, distance: int, mask: int) -> tuple[Node, Node]:
    bits = graph.const(mask, U4)
    left = graph.binary("&", graph.binary(">>", word, graph.const(distance), U4), bits, U4)
    return left, graph.binary("&", word, bits, U4)


_FUNCTIONS: Mapping[str, Callable[[Graph, Node], Node]] = {
    "leading-zeros": leading_zeros, "trailing-zeros": trailing_zeros, "first-set": first_set, "ones": ones,
}  # fmt: skip


# --- the list --------------------------------------------------------------------------------------------

HANDLERS: Mapping[str, Handler] = {
    "absolute": _absolute, "power": _power, "converted": _rounded(""), "end": _end, "first-argument": _first,
    "assumed-alignment": _first, "stride": _stride, **COPIES,
}  # fmt: skip
"""By effect (`cudalint.ir.builtins`)."""
MAKERS: Mapping[str, Callable[[str], Handler | None]] = {
    "extremum": _extremum, "function": _function, "rounded": _rounded, "bits": _of_a_word,
}
"""The same for effects that an operand tells more of: from that to the handler."""


def _handler(known: Builtin) -> Handler | None:
    return MAKERS[known.effect](known.operand) if known.effect in MAKERS else HANDLERS.get(known.effect)


LIBRARY: Mapping[str, Handler] = {
    name: handler for name, known in BUILTINS.items() if known.effect and (handler := _handler(known)) is not None
}
"""Those that host code may call, by the functions' names: what is for threads of a GPU, kernels are executed for."""
