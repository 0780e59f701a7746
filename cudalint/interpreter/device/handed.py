"""Addresses that calls hand on into other files: their findings belong where the address is made.

`positions[i] += step` with a vector of a library touches memory in the library's `operator+=`, which nobody who gets a
finding there can change, and which does what the index in `positions[i]` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from cudalint.heuristics import heuristic
from cudalint.interpreter.device.values import Allocation, MemoryPlace, Place, Pointer, Value
from cudalint.ir import nodes as ir
from cudalint.values.nodes import Node


class Handed(Struct, frozen=True, eq=False):
    """An address that a call hands on."""

    target: Allocation
    offset: Node
    """Bytes from the start of the target."""
    span: ir.Span
    """The argument, or the object of which a method is called."""


@heuristic("handed-addresses", "vectors of a library: a finding belongs where its address is made").otherwise(())
def handed_on(
    function: ir.Function,
    bindings: Mapping[ir.Symbol, Value | Place],
    arguments: Sequence[ir.Expr],
    receiver: ir.Expr | None,
) -> tuple[Handed, ...]:
    """The addresses that a function gets by pointers and references."""
    given = list(zip(function.parameters, arguments, strict=False))
    if function.this is not None and receiver is not None:
        given.append((function.this, receiver))
    found: list[Handed] = []
    for symbol, argument in given:
        value = bindings.get(symbol)
        pointer = value.pointer if isinstance(value, MemoryPlace) else value
        if isinstance(pointer, Pointer) and isinstance(pointer.target, Allocation):
            found.append(Handed(pointer.target, pointer.offset, argument.span))
    return tuple(found)
