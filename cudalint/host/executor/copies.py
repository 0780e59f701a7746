"""Functions that copy bytes into local objects: `memcpy` and its like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cudalint.host.executor import expressions
from cudalint.host.executor.conversions import cast_pointer
from cudalint.host.executor.memory import dereference
from cudalint.host.executor.pointers import advance, move_pointer, pointer_place
from cudalint.host.executor.values import LocalMemory, Pointer, Value
from cudalint.host.values.arithmetic import I8
from cudalint.host.values.nodes import Node, Reason
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

Handler = Callable[..., Any]

_MAX_COPIED = 64
"""Elements that are copied one by one; of longer arrays nothing is known afterwards."""


def _copy(ex: Execution, call: ir.Call) -> Value | None:
    """`memcpy(target, source, bytes)`."""
    if len(call.arguments) < 3:
        return None
    target, source = (expressions.evaluate(ex, argument) for argument in call.arguments[:2])
    _copied(ex, target, source, expressions.number(ex, call.arguments[2]), call.span)
    return target


def _copy_range(ex: Execution, call: ir.Call) -> Value | None:
    """`std::copy(first, last, target)`, for pointers."""
    if len(call.arguments) != 3:
        return None
    first, last, target = (expressions.evaluate(ex, argument) for argument in call.arguments)
    if not (isinstance(first, Pointer) and isinstance(last, Pointer) and isinstance(target, Pointer)):
        return None
    if _object_of(first) is not _object_of(last):
        return None
    size = ex.graph.binary("-", last.offset, first.offset, I8)
    _copied(ex, target, first, size, call.span)
    return Pointer(target.target, ex.graph.binary("+", target.offset, size, I8), target.pointee)


def _object_of(pointer: Pointer) -> object:
    return pointer.target.place.symbol if isinstance(pointer.target, LocalMemory) else pointer.target


def _copied(ex: Execution, target: Value, source: Value, size: Node, span: ir.Span) -> None:
    """What a local object is after bytes were copied into it: the source's elements, as the target's type has them."""
    if not isinstance(target, Pointer) or not isinstance(target.target, LocalMemory):
        return
    element, bytes_ = target.pointee, int(size.value) if size.is_const else None
    if bytes_ is not None and bytes_ <= 0:
        return
    count = bytes_ // element.bytes if bytes_ and element.bytes and not bytes_ % element.bytes else 0
    if not 0 < count <= _MAX_COPIED:
        place = target.target.place
        reason = Reason("it is copied as bytes")
        expressions.write(ex, place, ex.memory.unknown(place.type, reason, (), place.symbol.name))
        return
    start = cast_pointer(ex, source, element)
    values = []
    for i in range(count):
        place_ = pointer_place(ex, move_pointer(ex, start, ex.graph.const(i), element), ir.PointerType(element))
        values.append(expressions.read(ex, place_, span))
    for i, value in enumerate(values):
        where = dereference(advance(ex, target, ex.graph.const(i), element), ex.graph)
        expressions.write(ex, where, value)


COPIES: Mapping[str, Handler] = {"copied-bytes": _copy, "copied-range": _copy_range}
"""Handlers by effect."""
