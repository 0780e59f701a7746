"""Objects that host code makes on the heap.

A record or a short array behind a pointer is followed as a variable is: sizes are kept there as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.host.executor import expressions, objects, operators
from cudalint.host.executor.memory import address_of, decay
from cudalint.host.executor.values import LocalPlace, Pointer, Value
from cudalint.host.values.nodes import UNINITIALISED
from cudalint.ir import nodes as ir
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

_ALLOCATING = frozenset({"malloc", "calloc"})
_MAX_ELEMENTS = 64
"""Arrays up to this length are followed."""


def cast_value(ex: Execution, expr: ir.Cast) -> Value:
    """`(T *)malloc(sizeof(T))`: it is the cast that says what the bytes are for."""
    operand = walk.without_casts(expr)
    if isinstance(operand, ir.Call) and operand.name in _ALLOCATING and isinstance(expr.type, ir.PointerType):
        type_ = _objects_in(expr.type.pointee, _bytes_asked_for(ex, operand))
        if type_ is not None:
            return _made(ex, type_, None, expr.span)
    return operators.cast_value(ex, expr)


def new_value(ex: Execution, expr: ir.New) -> Value:
    """`new T(…)` and `new T[count]`."""
    count = ex.graph.one if expr.count is None else expressions.number(ex, expr.count)
    type_ = _objects_in(expr.element, count.whole * expr.element.bytes if count.whole is not None else None)
    if type_ is None:
        return objects.new_value(ex, expr)
    return _made(ex, type_, expressions.evaluate(ex, expr.initial) if expr.initial is not None else None, expr.span)


def _bytes_asked_for(ex: Execution, call: ir.Call) -> int | None:
    total = 1
    for argument in call.arguments:
        number = expressions.number(ex, argument)
        if number.whole is None:
            return None
        total *= number.whole
    return total


def _objects_in(element: ir.Type, bytes_: int | None) -> ir.Type | None:
    """The type of what fits into so many bytes: one record, or an array of numbers; None for anything else."""
    if not bytes_ or not element.bytes or bytes_ % element.bytes:
        return None
    count = bytes_ // element.bytes
    if isinstance(element, ir.RecordType) and element.fields and count == 1:
        return element
    if isinstance(element, ir.Scalar) and count <= _MAX_ELEMENTS:
        return ir.ArrayType(element, count, bytes_)
    return None


def _made(ex: Execution, type_: ir.Type, initial: Value | None, span: ir.Span) -> Pointer:
    symbol = ir.Symbol("", type_, "local", span)
    ex.state.variables[symbol] = ex.memory.unknown(type_, UNINITIALISED) if initial is None else initial
    place = LocalPlace(symbol, (), type_)
    return decay(place, ex.graph) if isinstance(type_, ir.ArrayType) else address_of(place, ex.graph)
