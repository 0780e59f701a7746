"""Accesses that data may lead out of their array, where the code itself says how far: `table[x & 127]` of 64 elements,
a clamp at the number of elements in place of the last one, a guard with `<=`.

Of data nothing else is known: what the code does not hold, the program may. An index is judged by one loaded number, up
to the number that a mask, a remainder, a minimum or a guard holds it at, which some data comes to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import Struct

from cudalint.execute.drawn import Drawn
from cudalint.execute.lanes import Extents
from cudalint.execute.trace import AccessEvent
from cudalint.execute.whole_numbers import TURNED
from cudalint.ir import nodes as ir
from cudalint.ir.walk import without_casts
from cudalint.measure.bounds import Sizes
from cudalint.measure.seen import Seen, spelled
from cudalint.measure.touches import Site
from cudalint.measure.ways import Guard


class Span(NamedTuple):
    """The least and the largest that a number may be."""

    low: int
    high: int
    is_held: bool
    """The code holds it there, and some data comes to it."""


class LedOutside(Struct, frozen=True, eq=False):
    event: AccessEvent
    offset: int
    """In bytes from the start of the allocation, of the farthest access."""
    extent: int
    thread: Extents
    block: Extents


_ORDERING: Final = frozenset({"<", "<=", ">", ">="})


def led_outside(seen: Seen, sizes: Sizes) -> Iterator[LedOutside]:
    """The first such execution of each access."""
    known = set[Site]()
    for event in seen.trace.accesses:
        site = Site(event.node, event.operation, event.bytes, event.stack)
        if type(event.offset) is not Drawn or site in known or event.allocation.parts:
            continue
        extents = {each for each in sizes(event.allocation) or () if each is not None}
        if len(extents) != 1 or len({id(load) for load in event.offset.loads()}) != 1:
            continue
        known.add(site)
        (extent,) = extents
        farthest = _farthest(event, site, seen)
        if farthest is not None and farthest + event.bytes > extent:
            row, lane = map(int, np.argwhere(event.mask)[0])
            lanes = seen.trace.lanes
            yield LedOutside(event, farthest, extent, lanes.thread_of(lane), lanes.block_of(row))


def _farthest(event: AccessEvent, site: Site, seen: Seen) -> int | None:
    """Where the farthest access begins that the code lets data lead to; None where it does not say."""
    loads = seen.address(site).loads
    # What the kernel has made of numbers itself, it may take apart again: `at % size` of `value * size + at`.
    if any(memory in seen.written for load in loads for memory in seen.memory_of(*load)):
        return None
    guards = [guard for guard in seen.guards(site) if not loads.isdisjoint(seen.origins_of(guard).loads)]
    held = [most for guard in guards if (most := _most(guard, event.node)) is not None]
    if len(held) + sum(_is_least(guard, event.node) for guard in guards) < len(guards):
        return None
    if held:
        return min(held) * event.bytes
    found = span_of(event.offset)
    return found.high if found is not None and found.is_held else None


def _index(node: Any) -> Any:
    """The index of an access that is spelled so; None for any other."""
    return without_casts(node.index) if isinstance(node, ir.Index) else None


def _compared(guard: Guard, node: Any) -> tuple[str, int] | None:
    """How a guard compares an index with a constant, as it holds on the way: `<=` and 64."""
    index, asked = _index(node), without_casts(guard.condition)
    if index is None or not guard.holds or not isinstance(asked, ir.Binary) or asked.op not in _ORDERING:
        return None
    for one, other, op in ((asked.left, asked.right, asked.op), (asked.right, asked.left, TURNED[asked.op])):
        bare: Any = without_casts(other)
        number = bare.value if isinstance(bare, ir.Constant) else None
        if isinstance(number, int) and spelled(without_casts(one)) == spelled(index):
            return op, int(number)
    return None


def _most(guard: Guard, node: Any) -> int | None:
    found = _compared(guard, node)
    if found is None or found[0] not in ("<", "<="):
        return None
    return found[1] - (found[0] == "<")


def _is_least(guard: Guard, node: Any) -> bool:
    found = _compared(guard, node)
    return found is not None and found[0] in (">", ">=")


# --- spans of what is computed -------------------------------------------------------------------------


def span_of(value: Any) -> Span | None:
    """Between which numbers a value lies, whatever was loaded; None where that is not followed."""
    if type(value) in (int, bool):
        return Span(int(value), int(value), True)
    if type(value) is np.ndarray:
        return Span(int(value.min()), int(value.max()), True) if value.dtype.kind in "iu" else None
    if type(value) is not Drawn:
        return None
    limits = _limits(value.type)
    if value.op in ("load", "any"):
        return Span(*limits, False)
    arguments = value.arguments[1:] if value.op == "function" else value.arguments
    parts = [span_of(each) for each in arguments]
    spans = [each for each in parts if each is not None]
    if len(spans) < len(parts):
        return None
    found = _of(value, spans)
    return found if found is None or (limits[0] <= found.low and found.high <= limits[1]) else Span(*limits, False)


def _of(value: Drawn, spans: list[Span]) -> Span | None:
    if value.op == "cast":
        return spans[0]
    if len(spans) != 2:
        return None
    one, other = spans
    both = one.is_held and other.is_held
    is_number = other.low == other.high
    if value.op == "function":
        return _extremum(value.arguments[0], one, other)
    if value.op == "&" and is_number and other.low >= 0:
        # All bits of the mask are set in some number; in one that is held elsewhere they may not be.
        is_reached = not one.is_held or other.low >= one.high
        return Span(0, min(other.low, one.high) if one.low >= 0 else other.low, is_reached)
    if value.op == "%" and is_number and other.low > 0:
        most = min(one.high, other.low - 1) if one.low >= 0 else other.low - 1
        return Span(0 if one.low >= 0 else 1 - other.low, most, not one.is_held or one.high <= most)
    if value.op == "+":
        return Span(one.low + other.low, one.high + other.high, both)
    if value.op == "-":
        return Span(one.low - other.high, one.high - other.low, both)
    if value.op == "*" and is_number and other.low >= 0:
        return Span(one.low * other.low, one.high * other.low, both)
    if value.op == "*" and one.low == one.high >= 0:
        return Span(one.low * other.low, one.low * other.high, both)
    if value.op == "<<" and is_number and 0 <= other.low < 32:
        return Span(one.low << other.low, one.high << other.low, both)
    if value.op in (">>", "/") and is_number and one.low >= 0 and other.low > 0:
        divisor = 1 << other.low if value.op == ">>" else other.low
        return Span(one.low // divisor, one.high // divisor, both)
    return None


def _extremum(function: Any, one: Span, other: Span) -> Span | None:
    if function is np.minimum:
        held = one.is_held if one.high < other.high else other.is_held
        return Span(min(one.low, other.low), min(one.high, other.high), held)
    if function is np.maximum:
        return Span(max(one.low, other.low), max(one.high, other.high), one.is_held and other.is_held)
    return None


def _limits(type_: ir.Scalar) -> tuple[int, int]:
    if type_.kind == "bool":
        return 0, 1
    bits = 8 * type_.bytes
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if type_.kind == "int" else (0, (1 << bits) - 1)
