"""Addresses that calls hand on into other files: their findings belong where the address is made.

`positions[i] += step` with a vector of a library touches memory in the library's `operator+=`, which nobody who gets a
finding there can change, and which does what the index in `positions[i]` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from cudalint.heuristics import heuristic
from cudalint.interpreter.device.values import Allocation, MemoryPlace, Place, Pointer, Value
from cudalint.ir import nodes as ir
from cudalint.values.nodes import Node
from cudalint.values.polynomial import linear

if TYPE_CHECKING:
    from cudalint.interpreter.device.events import AccessEvent


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


def made_at(event: AccessEvent) -> tuple[ir.Span, tuple[ir.Span, ...]]:
    """Where the address of an access is made, and the calls through which that is reached, innermost first: of an
    access in another file than the kernel's to what an argument names, or to a fixed part of it, that is the
    argument."""
    span, frames = event.context.span, event.context.frames
    if not frames or span.path == frames[-1].path:
        return span, frames
    for depth, addresses in enumerate(event.context.handed, 1):
        argument = next((a.span for a in addresses if _is_part_of(event, a)), None)
        if argument is None:
            break
        span, frames = argument, event.context.frames[depth:]
    return span, frames


def _is_part_of(event: AccessEvent, handed: Handed) -> bool:
    return handed.target is event.target and linear(handed.offset)[0] == linear(event.offset)[0]
