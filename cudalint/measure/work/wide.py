"""Neighbouring accesses of one thread that the compiler makes one wide access of.

The compiler proper knows the alignment that declarations tell: of records, of dynamic shared arrays and of those that
say so. The assembler knows where static shared variables lie; it leaves bytes apart, and makes accesses of 8 bytes at
most of elements of 2 (machine code of some 700 kernels, nvcc 13.0, sm_80 and sm_90). Loads read a gap along where more
than half of what is read is asked for (machine code of all choices of seven neighbours, sm_80); of stores all parts
have to be there. A loop of which several turns are one merges what these access.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from cudalint.execute.memory import Allocation
from cudalint.ir import nodes as ir
from cudalint.measure.work import compiler
from cudalint.measure.work.graph import Charge, Loop, Scope
from cudalint.measure.work.terms import Term, below

_WIDEST = 16
_WIDTHS = (16, 8, 4, 2)
_OF_ASSEMBLER = {1: 1, 2: 8}
"""Bytes of the widest access that the assembler makes of elements of so many, if not of 16."""
_WORD = 4


class Wide(NamedTuple):
    """What an access is a part of."""

    bytes: int
    """Fewer than the source asks for where only the lower half of an integer is of use."""
    parts: int
    """How many accesses of the source it is."""
    past: int
    """Bytes from a multiple of its width to the start of the array."""


class _Part(NamedTuple):
    """An access of one turn."""

    charge: Charge
    place: int
    """Bytes from what all of a group have in common."""


class _Tool(NamedTuple):
    """One of the two programs that merge."""

    number: int
    starts: Mapping[Any, int]

    @property
    def is_assembler(self) -> bool:
        return self.number == 1


def wide_accesses(charges: Iterable[Charge], starts: Mapping[Any, int]) -> dict[int, Wide]:
    """The accesses that are parts of wide ones, by the identities of their charges. `starts` are bytes from the
    beginning of shared memory to its arrays, as far as that is known."""
    if not compiler.WIDE.is_on:
        return {}
    charges = list(charges)
    # What has no size is of a type that nobody knows.
    accesses = [each for each in charges if each.term.op in ("load", "store") and 0 < each.term.info.bytes < _WIDEST]
    accesses.sort(key=lambda each: each.term.number)
    found: dict[int, Wide] = {}
    for tool in (_Tool(0, {}), _Tool(1, starts)):
        for wide, parts in _merged(accesses, tool):
            for part in parts:
                before = found.get(id(part.charge))
                if before is None or before.bytes < wide.bytes:
                    found[id(part.charge)] = wide
    halves = narrowed(charges)
    for charge in accesses:
        if id(charge.term) in halves:
            found.setdefault(id(charge), Wide(HALF, 1, 0))
    return found


def _merged(accesses: Iterable[Charge], tool: _Tool) -> Iterator[tuple[Wide, list[_Part]]]:
    groups: dict[Any, list[_Part]] = {}
    for charge in accesses:
        if charge.term.info.runs[tool.number] is not None:
            key = _neighbourhood(charge, tool)
            scope: Scope | None = charge.place.scope
            while tool.is_assembler and scope is not None and (key, scope) not in groups:
                # What is loaded on the way to a branch brings along what is loaded in it.
                scope = scope.outer
            parts = groups.setdefault((key, scope or charge.place.scope), [])
            parts += _of_turns(charge, tool)
    for group in groups.values():
        if len(group) > 1:
            yield from _chains(group, tool)


def shared_starts(variables: Iterable[ir.Symbol]) -> dict[ir.Symbol, int]:
    """Where the static shared arrays of a kernel begin, in bytes: in the order of their declaration, each at the next
    multiple of its own alignment (read from the machine code of some thirty kernels, nvcc 13.0, sm_80)."""
    arrays = sorted((symbol for symbol in variables if symbol.storage == "shared"), key=lambda s: s.span)
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


def _neighbourhood(charge: Charge, tool: _Tool) -> tuple[object, ...]:
    """What accesses have in common that may be parts of one."""
    term, access = charge.term, charge.term.info
    address = term.arguments[0]
    of = id(address) if isinstance(address, Term) else address
    memory = "shared" if tool.is_assembler and _start(access, tool) is not None else id(access.memory)
    return term.op, of, access.bytes, memory, id(access.runs[tool.number])


def _start(access: Any, tool: _Tool) -> int | None:
    memory = access.memory
    return tool.starts.get(memory.symbol) if isinstance(memory, Allocation) and access.is_shared else None


def _of_turns(charge: Charge, tool: _Tool) -> Iterator[_Part]:
    """An access, once for each of the turns that are one."""
    access, address = charge.term.info, charge.term.arguments[0]
    place = access.constant - access.past + (_start(access, tool) or 0) + _shift(address)
    loop = _copied(charge, tool)
    copies, step = (_turns(loop), compiler.step_of(address, loop)) if loop is not None else (1, 0)
    yield from (_Part(charge, place + step * turn) for turn in range(copies))


def _copied(charge: Charge, tool: _Tool) -> Loop | None:
    """The loop of which several turns are one that may make one access of an access's."""
    loop = charge.place.scope.loop
    if loop is None or charge.place.scope is not loop.scope or charge.term.info.runs[tool.number] not in loop.repeated:
        return None
    step = compiler.step_of(charge.term.arguments[0], loop)
    return loop if type(step) is int and step else None


def _turns(loop: Loop) -> int:
    """How many turns are one, as far as their accesses are."""
    return loop.merged & -loop.merged


def _chains(group: Sequence[_Part], tool: _Tool) -> Iterator[tuple[Wide, list[_Part]]]:
    """Runs of 2, 4 and so on that are as aligned as they are wide."""
    by_place: dict[int, list[_Part]] = defaultdict(list)
    for part in group:
        by_place[part.place].append(part)
    left = sorted(by_place)
    # What turns of a loop access that is not unrolled in full is merged from their first access on.
    whole = math.gcd(_WIDEST, left[0]) if _copied(group[0].charge, tool) is not None else _WIDEST
    while left:
        taken = [left[0]]
        for width in (width for width in _WIDTHS if width <= whole):
            there = _filled(by_place, left[0], width, tool)
            if there:
                taken = there
                for place in taken:
                    access = by_place[place][0].charge.term.info
                    past = ((_start(access, tool) or 0) - access.past) % width
                    yield Wide(width, len(taken), past), by_place[place]
                break
        left = [place for place in left if place not in taken]


def _filled(by_place: Mapping[int, Sequence[_Part]], first: int, width: int, tool: _Tool) -> list[int]:
    """The places of accesses that one of `width` bytes brings, the first of which is given; none if there is none."""
    charge = by_place[first][0].charge
    bytes_, is_load = charge.term.info.bytes, charge.term.op == "load"
    begin = first // width * width
    if width <= bytes_ or _alignment(charge, tool) < width:
        return []
    there = [place for place in range(begin, begin + width, bytes_) if place in by_place]
    missing = width // bytes_ - len(there)
    if there[0] != first or (missing and (not is_load or 2 * len(there) * bytes_ <= width)):
        return []
    if missing and not tool.is_assembler:
        # The compiler proper reads nothing along that is before the first, and of narrow elements nothing in between.
        is_behind = there[-1] - begin == (len(there) - 1) * bytes_
        return there if first == begin and (is_behind or bytes_ >= _WORD) else []
    return there


# --- alignment ---------------------------------------------------------------------------------------------


def _alignment(charge: Charge, tool: _Tool) -> int:
    """Of what the address of an access adds a constant to, up to the widest access."""
    access, address = charge.term.info, charge.term.arguments[0]
    loop = _copied(charge, tool)
    if not tool.is_assembler:
        declared = _declared(access)
        seen = math.gcd(_WIDEST, declared, _factor(address, loop)) if declared else 1
        return max(min(_WIDEST, int(access.align)), seen)
    most = _OF_ASSEMBLER.get(access.bytes, _WIDEST)
    if loop is not None and compiler.length(loop) is None and _is_of_thread(address):
        # Its address is that of the middle of the turns that are one.
        most = min(most, access.bytes * _turns(loop) // 2)
    return math.gcd(most, _factor(address, loop))


def _is_dynamic(access: Any) -> bool:
    symbol = access.memory.symbol
    return symbol is not None and symbol.storage == "dynamic-shared"


def _declared(access: Any) -> int:
    """The alignment of a shared array that its declaration tells."""
    symbol = access.memory.symbol if access.is_shared else None
    if symbol is None:
        return 0
    return _WIDEST if _is_dynamic(access) else int(symbol.align)


def _is_of_thread(address: Any) -> bool:
    return any(term.op == "special" for term in below((address,)))


def _factor(value: Any, copied: Loop | None) -> int:
    """What a number is a multiple of, without what is constant of it; of a variable of a loop at its first turn of
    those that are one."""
    parts = value.parts if isinstance(value, Term) else ()
    return math.gcd(0, *(part.factor * _factor_of(part.term, copied) for part in parts))


def _factor_of(term: Term, copied: Loop | None) -> int:
    if term.op == "variable":
        loop: Loop = term.info
        step, start = loop.steps.get(term), loop.starts.get(term)
        if type(step) is int and (type(start) is int or isinstance(start, Term)):
            return math.gcd(step * (_turns(loop) if loop is copied else 1), _factor(start, None))
    elif term.op == "&":
        mask = next((each for each in term.arguments if type(each) is int and each), 1)
        return int(mask & -mask)
    elif term.op == "*" and term.is_integer:
        return math.prod(_factor(each, None) for each in term.arguments)
    return 1


def _shift(value: Any) -> int:
    """What is constant of an address at the first turns of loops."""
    if not isinstance(value, Term):
        return 0
    total = 0
    for part, factor in value.parts:
        if part.op == "variable" and type(part.info.steps.get(part)) is int:
            start = part.info.starts.get(part)
            own = start if type(start) is int else start.constant + _shift(start) if isinstance(start, Term) else 0
            total += factor * own
    return total


# --- integers of which only the lower half is loaded ---------------------------------------------------


_LONG = 8
HALF = _LONG // 2
_OF_LOWER = frozenset({"sum", "*", "&", "|", "^", "~", "negated"})
"""Operators whose lower half needs nothing but the lower halves of what they are given."""


def narrowed(charges: Iterable[Charge]) -> frozenset[int]:
    """The loads, by the identities of their terms."""
    roots = [charge.term for charge in charges]
    if not compiler.HALVES.is_on or not any(map(_is_long_load, roots)):
        return frozenset()
    after = [value for term in roots if term.op == "variable" for value in term.info.variables.values()]
    asked: dict[Term, int] = defaultdict(int)
    asked |= {term: _LONG for term in after if isinstance(term, Term)}
    # What a term is made of was made before it.
    for term in sorted(below([*roots, *after]), key=lambda each: -each.number):
        for value, bytes_ in _asked_by(term, asked[term]):
            asked[value] = max(asked[value], bytes_)
    return frozenset(id(term) for term in roots if _is_long_load(term) and asked[term] <= HALF)


def _is_long_load(term: Term) -> bool:
    return term.op == "load" and term.is_integer and term.info.bytes == _LONG


def _asked_by(term: Term, asked: int) -> Iterator[tuple[Term, int]]:
    """Of what a term is made of, how many bytes are asked for."""
    values: list[Any] = [part.term for part in term.parts] if term.is_sum else list(term.arguments)
    for at, value in enumerate(values):
        if not isinstance(value, Term):
            continue
        if term.op == "store" and at > 0:
            yield value, term.info.bytes
        elif term.is_integer and (term.op in _OF_LOWER or (term.op == "<<" and at == 0)):
            yield value, min(term.type.bytes, asked)
        else:
            yield value, _LONG
