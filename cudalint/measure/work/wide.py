"""Neighbouring accesses of one thread that the compiler makes one wide access of.

It knows the alignment of elements of shared memory, which it lays out itself, and of fields of aligned records. Loads
read a gap along where more than half of what is read is asked for (machine code of all choices of seven neighbours,
nvcc 13.0, sm_80); of stores all parts have to be there.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from cudalint.execute.memory import Allocation
from cudalint.ir import nodes as ir
from cudalint.measure.work import compiler
from cudalint.measure.work.places import Charge
from cudalint.measure.work.terms import Term

_WIDEST = 16
_HALVES = frozenset({1, 2})
"""Bytes of elements of which the assembler makes no accesses of 16."""


class Wide(NamedTuple):
    """What an access is a part of."""

    bytes: int
    parts: int
    """How many accesses of the source it is."""
    past: int
    """Bytes from a multiple of its width to the start of the array."""


def wide_accesses(charges: Iterable[Charge], starts: Mapping[Any, int]) -> dict[int, Wide]:
    """The accesses that are parts of wide ones, by the identities of their charges. `starts` are bytes from the
    beginning of shared memory to its arrays, as far as that is known."""
    if not compiler.WIDE.is_on:
        return {}
    groups: dict[Any, list[Charge]] = defaultdict(list)
    for charge in charges:
        if charge.term.op in ("load", "store"):
            access = charge.term.info
            if access.bytes < _WIDEST and (access.is_shared or access.align > access.bytes):
                groups[_neighbourhood(charge)].append(charge)
    found: dict[int, Wide] = {}
    for group in groups.values():
        if len(group) > 1:
            for wide, chain in _chains(group, starts):
                found.update(dict.fromkeys(map(id, chain), wide))
    return found


def shared_starts(environment: Mapping[ir.Symbol, Any]) -> dict[ir.Symbol, int]:
    """Where the static shared arrays of a kernel begin, in bytes: in the order of their declaration, each at the next
    multiple of its own alignment (read from the machine code of some thirty kernels, nvcc 13.0, sm_80)."""
    arrays = sorted((symbol for symbol in environment if symbol.storage == "shared"), key=lambda s: s.span)
    starts: dict[ir.Symbol, int] = {}
    end = 0
    for symbol in arrays:
        align = max(symbol.align, _own_alignment(symbol.type), 1)
        starts[symbol] = -(-end // align) * align
        end = starts[symbol] + symbol.type.bytes
    return starts


def _own_alignment(type_: ir.Type) -> int:
    while isinstance(type_, ir.ArrayType):
        type_ = type_.element
    return type_.align if isinstance(type_, ir.RecordType) else type_.bytes


def _neighbourhood(charge: Charge) -> tuple[object, ...]:
    """What accesses have in common that may be parts of one."""
    term, access = charge.term, charge.term.info
    address = term.arguments[0]
    of = id(address) if isinstance(address, Term) else address
    same = access.memory, access.run, access.version, charge.place.scope
    return term.op, of, access.bytes, access.align, *map(id, same)


def _chains(group: list[Charge], starts: Mapping[Any, int]) -> Iterator[tuple[Wide, list[Charge]]]:
    """Runs of 2, 4 and so on that are as aligned as they are wide."""
    access = group[0].term.info
    past = starts.get(access.memory.symbol, 0) if isinstance(access.memory, Allocation) and access.is_shared else 0
    aligned = _alignment(group[0])
    by_place: dict[int, list[Charge]] = defaultdict(list)
    for charge in group:
        by_place[charge.term.info.constant].append(charge)
    left = sorted(by_place)
    while left:
        first = left[0]
        taken = [first]
        width = aligned
        while width > access.bytes:
            begin = (first + past) // width * width - past
            there = [place for place in range(begin, begin + width, access.bytes) if place in by_place]
            is_whole = len(there) * access.bytes == width
            if is_whole or (group[0].term.op == "load" and 2 * len(there) * access.bytes > width):
                taken = there
                yield Wide(width, len(taken), past % width), [each for place in taken for each in by_place[place]]
                break
            width //= 2
        left = [place for place in left if place not in taken]


def _alignment(charge: Charge) -> int:
    """Of what the address of an access adds a constant to, up to the widest access."""
    access, address = charge.term.info, charge.term.arguments[0]
    if not access.is_shared:
        return min(_WIDEST, int(access.align))
    most = 8 if access.bytes in _HALVES else _WIDEST
    return math.gcd(most, *(part.factor for part in address.parts)) if isinstance(address, Term) else most
