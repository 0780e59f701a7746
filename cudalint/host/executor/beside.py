"""Pointers that walk through a local variable: from a field to the next one, from one row of an array into another."""

from __future__ import annotations

from cudalint.host.executor.values import LocalPlace, Pointer, Step
from cudalint.host.values.arithmetic import I8
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir


def place_beside(place: LocalPlace, pointer: Pointer, graph: Graph) -> LocalPlace:
    """The part of a variable to which a pointer leads that starts at `place`; the whole variable, of another type,
    where it is not known which part that is."""
    if pointer.offset.is_const and not pointer.offset.value:
        return LocalPlace(place.symbol, place.path, pointer.pointee)
    start = _bytes_before(place)
    if start is not None and pointer.offset.is_const:
        path = _path_to(place.symbol.type, start + int(pointer.offset.value), pointer.pointee, graph)
        if path is not None:
            return LocalPlace(place.symbol, path, pointer.pointee)
    return LocalPlace(place.symbol, (), pointer.pointee)


def _bytes_before(place: LocalPlace) -> int | None:
    """From the start of the variable to the place in it; None where an index varies."""
    type_: ir.Type = place.symbol.type
    total = 0
    for step in place.path:
        if isinstance(type_, ir.ArrayType) and isinstance(step, Node) and step.is_const:
            total += int(step.value) * type_.element.bytes
            type_ = type_.element
        elif isinstance(type_, ir.RecordType) and isinstance(step, str) and (field := type_.field(step)) is not None:
            total += field.offset
            type_ = field.type
        else:
            return None
    return total


def _path_to(type_: ir.Type, offset: int, wanted: ir.Type, graph: Graph) -> tuple[Step, ...] | None:
    """The steps to what lies so many bytes from the start of a `type_`, if that has the size of a `wanted`."""
    path: list[Step] = []
    while isinstance(type_, (ir.ArrayType, ir.RecordType)):
        if not offset and type_ is wanted:
            return tuple(path)
        if isinstance(type_, ir.ArrayType):
            index, offset = divmod(offset, max(type_.element.bytes, 1))
            if not 0 <= index < (type_.count or 0):
                return None
            path.append(graph.const(index, I8))
            type_ = type_.element
        else:
            field = _field_at(type_, offset)
            if field is None:
                return None
            path.append(field.name)
            offset, type_ = offset - field.offset, field.type
    fits = not offset and type_.bytes == wanted.bytes and type(type_) is type(wanted)
    return tuple(path) if fits else None


def _field_at(record: ir.RecordType, offset: int) -> ir.Field | None:
    """The field in which a byte of a record lies, where it is no matter of how it is looked at."""
    if record.is_union:
        return None
    inside = [f for f in record.fields if f.offset <= offset < f.offset + f.type.bytes and f.bits is None]
    return inside[0] if len(inside) == 1 else None
