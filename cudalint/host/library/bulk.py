"""Functions that copy and fill bytes: memcpy, memset and their like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cudalint.host.executor import expressions
from cudalint.host.executor.values import LocalMemory, Pointer, Value
from cudalint.host.library.bytewise import copy_objects, fill_object
from cudalint.host.values.arithmetic import I8
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.executor.executor import Executor

Handler = Callable[..., Any]

_CHAR = ir.Scalar("char", 1, "int")


def _copy(ex: Executor, call: ir.Call) -> Value | None:
    """`memcpy(target, source, bytes)`; a length that is not plain counts as one byte, which both surely touch."""
    if len(call.arguments) < 3:
        return None
    target, source = (_address(ex, a) for a in call.arguments[:2])
    _copied(ex, target, source, expressions.number(ex, call.arguments[2]), call.span)
    return target


def _copied(ex: Executor, target: Value, source: Value, size: Node, span: ir.Span) -> None:
    count = int(size.value) if size.is_const else 1
    if count > 0:
        copy_objects(ex, target, source, count if size.is_const else None, span)


def _copy_range(ex: Executor, call: ir.Call) -> Value | None:
    """`std::copy(first, last, target)`, for pointers."""
    if len(call.arguments) != 3:
        return None
    first, last, target = (_address(ex, argument) for argument in call.arguments)
    if not (isinstance(first, Pointer) and isinstance(last, Pointer) and isinstance(target, Pointer)):
        return None
    if not _are_in_one_object(first, last):
        return None
    size = ex.graph.binary("-", last.offset, first.offset, I8)
    _copied(ex, target, first, size, call.span)
    return Pointer(target.target, ex.graph.binary("+", target.offset, size, I8), target.pointee)


def _are_in_one_object(one: Pointer, other: Pointer) -> bool:
    if isinstance(one.target, LocalMemory) and isinstance(other.target, LocalMemory):
        return one.target.place.symbol is other.target.place.symbol
    return one.target is other.target


def _fill(ex: Executor, call: ir.Call) -> Value | None:
    if len(call.arguments) < 3:
        return None
    target = _address(ex, call.arguments[0])
    content = expressions.number(ex, call.arguments[1])
    size = expressions.number(ex, call.arguments[2])
    if not size.is_const or size.value > 0:
        fill_object(ex, target, content, int(size.value) if size.is_const else None, call.span)
    return target


def _address(ex: Executor, argument: ir.Expr) -> Value:
    """The pointer before it turned into a `void*`; a local object stays what it is."""
    return expressions.evaluate(ex, argument)


BULK_ACCESSES: Mapping[str, Handler] = {
    "copied-bytes": _copy, "copied-range": _copy_range, "filled": _fill,
}  # fmt: skip
"""Handlers by effect."""
