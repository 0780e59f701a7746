"""Pointers as values: moving them, comparing them, and the places that they lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from cudalint.host.executor.memory import dereference, element_bytes
from cudalint.host.executor.values import (
    UNNAMED,
    Allocation,
    Choice,
    LocalMemory,
    MemoryPlace,
    Place,
    Pointer,
    TemporaryPlace,
    Text,
    Value,
    join,
)
from cudalint.host.values.arithmetic import I8, kind_of
from cudalint.host.values.nodes import Node, Reason
from cudalint.ir import nodes as ir

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

NULL = Allocation("nullptr", "local", is_null=True)


def pointer_place(ex: Execution, value: Value, type_: ir.Type) -> Place:
    """`*value` for a pointer value of any form."""
    if isinstance(value, Pointer):
        return dereference(value, ex.graph)
    pointee = ir.pointee(type_)
    if isinstance(value, Choice):
        return _choice_place(ex, value, pointee)
    if isinstance(value, Text):
        return TemporaryPlace(_letter(ex, value, pointee), pointee)
    if isinstance(value, Node):
        target = Allocation(UNNAMED, "generic", opaque=value)
        return MemoryPlace(Pointer(target, ex.graph.const(0, I8), pointee), pointee)
    return TemporaryPlace(ex.memory.smear(value, pointee), pointee)


def _letter(ex: Execution, text: Text, type_: ir.Type) -> Value:
    """The first letter of a text, or the 0 that ends it."""
    if not text.text.isascii() or not isinstance(type_, ir.Scalar):
        return ex.memory.smear(text, type_)
    return ex.graph.const(ord(text.text[:1] or "\0"), kind_of(type_))


def _choice_place(ex: Execution, value: Choice, pointee: ir.Type) -> Place:
    """What a pointer to one of several arrays leads to: the first of them that there is."""
    found: list[MemoryPlace] = []
    for side in (value.a, value.b):
        inner = pointer_place(ex, side, ir.PointerType(pointee)) if isinstance(side, (Pointer, Choice)) else None
        if isinstance(inner, MemoryPlace) and inner.pointer.target is not NULL:
            found.append(inner)
    if not found:
        reason = Reason("it is read through one of several pointers")
        return TemporaryPlace(ex.memory.unknown(pointee, reason), pointee)
    return found[0]


def are_one(one: Allocation | LocalMemory, other: Allocation | LocalMemory) -> bool:
    """Whether both are the same piece of memory, as where a launch passes one pointer twice."""
    if isinstance(one, Allocation) and isinstance(other, Allocation):
        return one.memory is other.memory
    return one is other


def move_pointer(ex: Execution, pointer: Value, index: Node, pointee: ir.Type) -> Value:
    """`pointer + index` for a pointer of any form; what is none stays what it is."""
    if isinstance(pointer, Pointer):
        return advance(ex, pointer, index, pointee)
    if isinstance(pointer, Choice):
        return move_choice(ex, pointer, index, pointee)
    if isinstance(pointer, Text):
        return _rest_of(ex, pointer, index, pointee)
    return pointer


def _rest_of(ex: Execution, text: Text, index: Node, pointee: ir.Type) -> Value:
    """A text from one of its letters on."""
    if index.is_const and 0 <= index.value <= len(text.text):
        return replace(text, text=text.text[int(index.value) :])
    return Pointer(Allocation("text", "local"), index, pointee)


def advance(ex: Execution, pointer: Pointer, index: Node, element: ir.Type) -> Pointer:
    """`pointer + index`, counted in elements."""
    graph = ex.graph
    distance = graph.binary("*", index, graph.const(element_bytes(element), I8), I8)
    return Pointer(pointer.target, graph.binary("+", pointer.offset, distance, I8), element)


def move_choice(ex: Execution, choice: Choice, index: Node, element: ir.Type) -> Value:
    """Both sides of it, moved."""

    def move(side: Value) -> Value:
        if isinstance(side, Pointer):
            return advance(ex, side, index, element)
        return move_choice(ex, side, index, element) if isinstance(side, Choice) else side

    return join(ex.graph, choice.condition, move(choice.a), move(choice.b))


def pointee_of(type_: ir.Type, value: Value) -> ir.Type:
    """What a pointer of a type, or an array, leads to; the value knows where the type does not say."""
    if isinstance(type_, ir.PointerType):
        return type_.pointee
    if isinstance(type_, ir.ArrayType):
        return type_.element
    return value.pointee if isinstance(value, Pointer) else ir.OpaqueType("?")


def pointer_difference(ex: Execution, op: str, left: Pointer, right: Pointer, type_: ir.Type) -> Node:
    """`left - right` in elements, or a comparison of two pointers into one array."""
    if op == "-":
        distance = ex.graph.binary("-", left.offset, right.offset, I8)
        return ex.graph.binary("/", distance, ex.graph.const(element_bytes(pointee_of(type_, left)), I8), I8)
    return ex.graph.binary(op, left.offset, right.offset, I8)
