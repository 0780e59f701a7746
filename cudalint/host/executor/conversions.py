"""Values as other types hold them: numbers of other widths, pointers to something else, addresses as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.host.executor.pointers import NULL
from cudalint.host.executor.values import (
    UNNAMED,
    Allocation,
    Choice,
    Closure,
    FunctionValue,
    Pointer,
    RecordValue,
    Text,
    Value,
    join,
)
from cudalint.host.values.arithmetic import I8, Kind, kind_of
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution


def as_number(ex: Execution, value: Value, type_: ir.Type) -> Node:
    """A value as a node: a pointer is its address, of an object only is known what it was made from."""
    if isinstance(value, Node):
        return value
    if isinstance(value, Pointer):
        return _address_number(ex, value)
    if isinstance(value, Choice):
        a, b = as_number(ex, value.a, type_), as_number(ex, value.b, type_)
        return ex.graph.select(value.condition, a, b)
    smeared = ex.memory.smear(value, ir.Scalar("long", 8, "int")) if not isinstance(value, Text) else ex.graph.one
    assert isinstance(smeared, Node)
    return smeared


def _address_number(ex: Execution, pointer: Pointer) -> Node:
    """A number for an address: the allocation's start (aligned to 256 bytes) plus the offset."""
    target = pointer.target
    if isinstance(target, Allocation) and target.is_null:
        return ex.graph.const(0, I8)
    key: object = target if isinstance(target, Allocation) else target.place.symbol
    base = ex.addresses.get(key)
    if base is None:
        name = target.name if isinstance(target, Allocation) else target.place.symbol.name
        base = ex.graph.uniform(f"&{name}", (len(ex.addresses) + 1) << 32, I8)
        ex.addresses[key] = base
    return ex.graph.binary("+", base, pointer.offset, I8)


def _converted(ex: Execution, number: Node, kind: Kind) -> Node:
    """A number as a variable of another type holds it."""
    return ex.memory.generics.rounded(number, kind) or ex.graph.convert(number, kind)


def convert(ex: Execution, value: Value, type_: ir.Type) -> Value:
    """A value as a variable of `type_` holds it."""
    if isinstance(type_, ir.Scalar) and isinstance(value, Node):
        return _converted(ex, value, kind_of(type_))
    return value


def cast(ex: Execution, value: Value, source: ir.Type, type_: ir.Type) -> Value:
    """A value converted to another type, as a C++ cast does."""
    if isinstance(type_, ir.PointerType):
        if type_.reference:
            return value
        if isinstance(value, Node):
            return _pointer_from_number(ex, value, type_)
        return cast_pointer(ex, value, type_.pointee)
    if isinstance(type_, ir.Scalar) and type_.kind != "void":
        if type_.kind == "bool" and isinstance(value, Choice):
            # Whether there is what it points to, which no address says that is made of both.
            a, b = (as_number(ex, cast(ex, side, source, type_), type_) for side in (value.a, value.b))
            return ex.graph.select(value.condition, a, b)
        if type_.kind == "bool" and isinstance(value, (Pointer, Closure, FunctionValue)):
            null = isinstance(value, Pointer) and isinstance(value.target, Allocation) and value.target.is_null
            return ex.graph.false if null else ex.graph.true
        return _converted(ex, as_number(ex, value, source), kind_of(type_))
    if isinstance(type_, ir.RecordType) and not isinstance(value, (RecordValue, Choice, Closure)):
        return ex.memory.smear(value, type_)
    return value


def cast_pointer(ex: Execution, value: Value, pointee: ir.Type) -> Value:
    """A pointer of any form that leads to the same bytes as objects of another type."""
    if isinstance(value, Pointer):
        return as_pointer(value, pointee)
    if isinstance(value, Choice):
        a, b = cast_pointer(ex, value.a, pointee), cast_pointer(ex, value.b, pointee)
        return join(ex.graph, value.condition, a, b)
    return value


def as_pointer(pointer: Pointer, pointee: ir.Type) -> Pointer:
    """The same for a plain pointer. It is still indexed as it was where the elements are as wide."""
    if isinstance(pointee, ir.Scalar) and pointee.kind == "void":
        return pointer
    return Pointer(pointer.target, pointer.offset, pointee)


def _pointer_from_number(ex: Execution, value: Node, type_: ir.PointerType) -> Value:
    if value.is_const and not value.value:
        return Pointer(NULL, ex.graph.const(0, I8), type_.pointee)
    known = {base: key for key, base in ex.addresses.items()}
    for base, key in known.items():
        if isinstance(key, Allocation) and value.bits & base.bits:
            offset = ex.graph.substitute(value, {base: ex.graph.const(0, I8)})
            return Pointer(key, offset, type_.pointee)
    return Pointer(Allocation(UNNAMED, "generic", opaque=value), ex.graph.const(0, I8), type_.pointee)
