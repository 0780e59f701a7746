"""The parameters of a kernel, as somebody who launches it has to fill them, and what an evaluated launch passes.

A parameter is given by its leaves: scalars and pointers, with their place in the parameter's bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from cudalint.facts import LeafFacts, ParameterFacts
from cudalint.ir import nodes as ir
from cudalint.ir.text import field_name


def parameter_facts(function: ir.Function) -> tuple[ParameterFacts, ...]:
    return tuple(
        ParameterFacts(symbol.name, symbol.type.bytes, tuple(_leaves(symbol.type, symbol.name, 0)))
        for symbol in function.parameters
    )


def _leaves(type_: ir.Type, name: str, offset: int) -> Iterator[LeafFacts]:
    if isinstance(type_, ir.Scalar):
        yield LeafFacts(name, offset, type_.bytes, type_.kind)
    elif isinstance(type_, ir.PointerType):
        pointee, count = _element(type_.pointee)
        kind = pointee.kind if isinstance(pointee, ir.Scalar) else "other"
        size = max(1, pointee.bytes)
        yield LeafFacts(name, offset, type_.bytes, "pointer", kind, size, max(1, count) * size)
    elif isinstance(type_, ir.RecordType):
        for field in type_.fields:
            if field.bits is None:
                yield from _leaves(field.type, field_name(name, field.name), offset + field.offset)


def _kinds(type_: ir.Type) -> Iterator[tuple[ir.ScalarKind | Literal["pointer"], int]]:
    """The kinds and sizes of a type's leaves; what its pointers lead to, which may be itself, is left alone."""
    if isinstance(type_, ir.Scalar):
        yield type_.kind, type_.bytes
    elif isinstance(type_, ir.PointerType):
        yield "pointer", type_.bytes
    elif isinstance(type_, ir.RecordType):
        for field in type_.fields:
            if field.bits is None:
                yield from _kinds(field.type)


def _element(type_: ir.Type) -> tuple[ir.Type, int]:
    """What the memory behind a pointer consists of, and how many of it the pointee has."""
    if isinstance(type_, ir.ArrayType):
        element, count = _element(type_.element)
        return element, count * (type_.count or 1)
    if isinstance(type_, ir.RecordType):
        elements = dict(_kinds(type_))
        if len(elements) == 1 and not type_.is_union:
            # `float4` is four times a float.
            ((kind, bytes_),) = elements.items()
            if kind in ("int", "uint", "float", "bool"):
                return ir.Scalar(kind, bytes_, kind), type_.bytes // max(1, bytes_)
    return type_, 1


