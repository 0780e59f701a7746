"""What variables of host code hold: numbers, pointers into allocations, addresses of variables, streams."""

from __future__ import annotations

from msgspec import Struct

from cudalint.facts import Place
from cudalint.facts.host_faults import HostSpace
from cudalint.host.memory.quantities import Quantity, plus
from cudalint.ir import nodes as ir

Key = tuple[ir.Symbol | str, ...]
"""A variable, or a part of one: a field by its name, an element as `[3]`, what a pointer leads to as `*`."""
LED_TO = "*"


class Allocation(Struct, frozen=True, eq=False):
    """Memory that pointers lead to, one object for each time that its allocation is executed."""

    space: HostSpace
    made_by: str
    made_at: Place
    variable: Key | None = None
    """The variable that it is, or whose elements it has."""
    is_growing: bool = False
    """Whether that variable has as many elements as it says itself: a `std::vector`."""


class Pointer(Struct, frozen=True):
    """A pointer that leads into one of some allocations, or nowhere if it may be null."""

    targets: frozenset[Allocation]
    may_be_null: bool = False
    offset: Quantity | None = Quantity()
    """Bytes from the start of the allocation."""


class Address(Struct, frozen=True):
    """`&variable`, or an array as a pointer."""

    key: Key


class Stream(Struct, frozen=True, eq=False):
    """A stream that was made in sight."""

    name: str


Value = Quantity | Pointer | Address | Stream | None
"""None for what is not known."""
NULL = Pointer(frozenset(), may_be_null=True)


def joined(a: Value, b: Value) -> Value:
    """What is either of two values."""
    if a == b:
        return a
    if isinstance(a, Pointer) and isinstance(b, Pointer):
        offset = a.offset if a.offset == b.offset else None
        if not a.targets or not b.targets:
            offset = a.offset if a.targets else b.offset
        return Pointer(a.targets | b.targets, a.may_be_null or b.may_be_null, offset)
    return None


def moved(pointer: Pointer, elements: Quantity | None) -> Pointer:
    """A pointer that is so many bytes further on."""
    offset = None if elements is None or pointer.offset is None else plus(pointer.offset, elements)
    return Pointer(pointer.targets, pointer.may_be_null, offset)
