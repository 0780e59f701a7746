"""Library functions that read and write memory on the caller's behalf: memcpy, memset, random generators, group copies.

Their instructions belong to the library and get no figures, but what they touch takes part in races.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from cudalint.facts import Operation
from cudalint.interpreter.device import expressions
from cudalint.interpreter.device.conversions import as_number
from cudalint.interpreter.device.events import LibraryAccess
from cudalint.interpreter.device.memory import element_bytes
from cudalint.interpreter.device.values import Allocation, LocalMemory, Pointer, Value
from cudalint.interpreter.library.bytewise import copy_objects, fill_object
from cudalint.ir import nodes as ir
from cudalint.ir.sizes import sized
from cudalint.values.arithmetic import I8
from cudalint.values.nodes import Node, Reason

if TYPE_CHECKING:
    from cudalint.interpreter.device.executor import Executor

Handler = Callable[..., Any]

_CHAR = ir.Scalar("char", 1, "int")


def touch(
    ex: Executor, value: Value, size: int, operation: Operation, span: ir.Span, *, block: bool = False
) -> None:
    """Records that `size` bytes behind a pointer are touched; `block`: by the threads of a block together."""
    if not ex.memory.recording or not isinstance(value, Pointer) or not isinstance(value.target, Allocation):
        return
    if value.target.space in ("shared", "global", "generic"):
        context, target = ex.context(span), value.target
        ex.memory.events.append(
            LibraryAccess(context, target, value.offset, sized(size), _CHAR, operation, cooperative=block)
        )


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
        touch(ex, source, count, "load", span)
        touch(ex, target, count, "store", span)
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
        touch(ex, target, int(size.value) if size.is_const else 1, "store", call.span)
    return target


def _address(ex: Executor, argument: ir.Expr) -> Value:
    """The pointer before it turned into a `void*`; a local object stays what it is."""
    return expressions.evaluate(ex, argument)


def _group_copy(ex: Executor, call: ir.Call) -> Value | None:
    """`memcpy_async(group, target, source, shape)` and the forms with a barrier or pipeline and no group."""
    pointers = [e for e in call.arguments if isinstance(e.type, ir.PointerType) and not e.type.reference]
    if len(pointers) < 2:
        return None
    values = [expressions.evaluate(ex, argument) for argument in call.arguments]
    target, source = (values[call.arguments.index(e)] for e in pointers[:2])
    group = call.arguments.index(pointers[0]) == 1
    sizes = values[call.arguments.index(pointers[1]) + 1 :]
    size = as_number(ex, sizes[0], _CHAR) if sizes else ex.graph.one
    count = int(size.value) if size.is_const and size.value > 0 else 1
    touch(ex, source, count, "load", call.span, block=group)
    touch(ex, target, count, "async-copy", call.span, block=group)
    return ex.graph.zero


def _random(ex: Executor, call: ir.Call) -> Value | None:
    """A curand generator advances its state. That of MTGP32 is made for all threads of a block to draw from. What else
    is pointed to (direction vectors, a distribution) is only read."""
    values = [expressions.evaluate(ex, argument) for argument in call.arguments]
    # `curand_init` takes the state last, all others take it first.
    states = values[-1:] if call.name == "curand_init" else values[:1]
    for value in values:
        if isinstance(value, Pointer) and isinstance(value.target, Allocation):
            name = value.pointee.name if isinstance(value.pointee, (ir.RecordType, ir.Scalar)) else ""
            size, shared = element_bytes(value.pointee), "tgp32" in name.lower() and _fits_mtgp32(ex)
            if value not in states or call.name != "curand_init":
                touch(ex, value, size, "load", call.span, block=shared)
            if value in states:
                touch(ex, value, size, "store", call.span, block=shared)
    # Drawn numbers are as good as loaded ones: no program knows them, and they are spread evenly.
    told = "it is a random number" if call.name.startswith("_cudalint") else f"it is the result of `{call.name}`"
    drawn = Reason(True, told, call.span)
    return ex.memory.unknown(call.type, drawn, tuple(ex.graph.thread))


_MTGP32_THREADS = 256
"""cuRAND Library, Device API, Bit Generation with the MTGP32 generator: at most so many threads draw from one state."""


def _fits_mtgp32(ex: Executor) -> bool:
    block = ex.extents.block if ex.extents is not None else ()
    return math.prod(int(extent.value) for extent in block if extent.is_const) <= _MTGP32_THREADS


BULK_ACCESSES: Mapping[str, Handler] = {
    "copied-bytes": _copy, "copied-range": _copy_range, "filled": _fill, "group-copy": _group_copy, "random": _random,
}  # fmt: skip
"""Handlers by effect."""
