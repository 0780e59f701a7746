"""What local objects hold after library functions wrote to them byte by byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.host.executor import expressions
from cudalint.host.executor.conversions import cast_pointer
from cudalint.host.executor.memory import dereference
from cudalint.host.executor.objects import zero_value
from cudalint.host.executor.pointers import advance, move_pointer, pointer_place
from cudalint.host.executor.values import Allocation, LocalMemory, LocalPlace, Pointer, Value
from cudalint.host.values.nodes import Node, Reason
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.executor.executor import Executor

_MAX_COPIED = 64
"""Elements that are copied one by one; of longer arrays nothing is known afterwards."""


def copy_objects(ex: Executor, target: Value, source: Value, size: int | None, span: ir.Span) -> None:
    """What `size` bytes of a local object are after they were copied from elsewhere: the source's elements, as the
    target's type has them. The access itself is the library's, and is no load of the kernel's own."""
    if not isinstance(target, Pointer) or not isinstance(target.target, LocalMemory):
        return
    element = target.pointee
    count = _elements(element, size)
    if count is None:
        is_data = isinstance(source, Pointer) and isinstance(source.target, Allocation)
        _forget(ex, target.target.place, Reason(is_data, "it is copied as bytes"), span)
        return
    start = cast_pointer(ex, source, element)
    values = []
    for i in range(count):
        place = pointer_place(ex, move_pointer(ex, start, ex.graph.const(i), element), ir.PointerType(element))
        values.append(expressions.read(ex, place, span))
    _write(ex, target, values, span)


def fill_object(ex: Executor, target: Value, content: Node, size: int | None, span: ir.Span) -> None:
    """What a local object is after `memset`: zeros, or numbers that are made of the byte."""
    if not isinstance(target, Pointer) or not isinstance(target.target, LocalMemory):
        return
    element = target.pointee
    count = _elements(element, size)
    if count is None or not content.is_const or content.value:
        _forget(ex, target.target.place, Reason(False, "it is set as bytes"), span)
        return
    _write(ex, target, [zero_value(ex, element)] * count, span)


def _elements(element: ir.Type, size: int | None) -> int | None:
    """How many whole elements the bytes are; None if they are none, or too many."""
    if size is None or not element.bytes or size % element.bytes or size // element.bytes > _MAX_COPIED:
        return None
    return size // element.bytes


def _write(ex: Executor, target: Pointer, values: list[Value], span: ir.Span) -> None:
    for i, value in enumerate(values):
        place = dereference(advance(ex, target, ex.graph.const(i), target.pointee), ex.graph)
        expressions.write(ex, place, value, span)


def _forget(ex: Executor, place: LocalPlace, reason: Reason, span: ir.Span) -> None:
    expressions.write(ex, place, ex.memory.unknown(place.type, reason, (), place.symbol.name), span)
