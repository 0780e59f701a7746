"""Accesses at bytes that are no multiple of their width, on which the hardware faults ("misaligned address").

Allocations start at multiples of 256 bytes, as those of `cudaMalloc` do (CUDA C++ Programming Guide, "Device Memory
Accesses"); shared arrays lie where nvcc puts them, and a thread's own variables are aligned to what is accessed there.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from cudalint.execute.drawn import Drawn, Known
from cudalint.execute.lanes import Lanes
from cudalint.execute.memory import plus
from cudalint.execute.trace import AccessEvent, Trace
from cudalint.execute.values import Data
from cudalint.ir import nodes as ir
from cudalint.ir.walk import without_casts
from cudalint.measure.executed import Executed
from cudalint.measure.faults import Found, Site, Wrong, found_of, sites_of
from cudalint.measure.machine_accesses import MachineSite, SiteKey
from cudalint.measure.numbers import numbers_of, parameters_of
from cudalint.measure.places import pointees_of
from cudalint.measure.rows import Rows
from cudalint.measure.work.shared import alignment, shared_layout
from cudalint.worlds.records import Batch

_WIDEST = 16
_MOST_DRAWN = 8
"""Executions of one access that numbers are drawn for."""
_STARTING = ("global", "shared")
"""Memory of which it is known where its arrays start."""


class Misaligned(Struct, frozen=True, eq=False):
    """A site at which lanes are misaligned."""

    found: Found
    width: int
    """What the address has to be a multiple of."""
    base: int
    """Where a shared array itself starts in the block's shared memory."""
    requirement: Requirement | None
    """What the numbers have to fulfil for it to be aligned; None where it is misaligned whatever they are."""
    is_by_data: bool = False
    """Data goes into the address, too: the offender is one that other data may make."""


def misaligned(executed: Executed, open_axes: int) -> Iterator[Misaligned]:
    """In the order of the trace. `open_axes` is along how many the number of blocks is open."""
    kernel, trace, batch = executed.function, executed.trace, executed.batch
    layout = shared_layout(kernel, trace)
    pointees, numbers, rows = pointees_of(kernel), terms_of(batch), None
    for found, events, is_drawn in misaligned_sites(trace, layout, lambda: executed.machine):
        width, base = needed_of(found.site, layout)
        residues = residues_of(events, trace.lanes, width, base)
        pointee = pointees.get(found.site.allocation.name)
        unit = alignment(pointee) if pointee is not None and pointee.bytes else 0
        if batch.made or is_whatever(residues, numbers, width, unit, batch):
            # What only data misaligns it may as well not.
            if not is_drawn:
                yield Misaligned(found, width, base, None)
            continue
        needed = requirement_of(residues, width, numbers, unit)
        if needed is None:
            continue
        rows = rows or Rows.of(kernel, batch, open_axes)
        if not rows.are_the_callers(needed.names, needed.divisor, unit, found.site.allocation.space):
            yield Misaligned(found, width, base, needed, is_drawn)


def misaligned_sites(
    trace: Trace, layout: Mapping[ir.Symbol, int], machine: Callable[[], Mapping[SiteKey, MachineSite]] = dict
) -> Iterator[tuple[Found, Sequence[AccessEvent], bool]]:
    """All sites at which lanes are misaligned in some world, with their executions, and whether data that was drawn
    goes into the addresses. `layout` has the places of shared arrays, and `machine` is asked for what the compiler
    makes of accesses."""

    def asks(site: Site) -> Wrong | None:
        width, base = needed_of(site, layout)
        if width == 1 or site.allocation.space not in _STARTING:
            return None
        return lambda offset: (offset + base) % width != 0

    drawn = {id(event.node) for event in trace.accesses if type(event.offset) is Drawn}
    sites = sites_of(_as_made(trace, machine))
    for found in found_of(sites, trace, asks):
        yield found, sites[found.site], id(found.site.node) in drawn


def _as_made(trace: Trace, machine: Callable[[], Mapping[SiteKey, MachineSite]]) -> Iterator[AccessEvent]:
    """The accesses, with numbers for the data that goes into their addresses: nobody knows them, and any may be there.
    Some of the executions tell as much as all. In the place of those of several fields of a record is the access that
    the compiler makes of them: it takes that to be as aligned as it is declared to be."""
    made: Counter[int] = Counter()
    known: Known = {}
    parts: dict[SiteKey, tuple[int, int] | None] = {}
    for event in trace.accesses:
        if type(event.offset) is Drawn:
            made[id(event.node)] += 1
            if made[id(event.node)] > _MOST_DRAWN:
                continue
            numbers, _ = event.offset.numbers(trace.lanes, known)
            event = event._replace(offset=numbers.astype(np.int64) if type(numbers) is np.ndarray else int(numbers))
        if event.allocation.space == "global" and not isinstance(event.offset, Data):
            key = event.node, event.stack, event.operation, event.bytes
            if key not in parts:
                parts[key] = _part(key, machine)
            part = parts[key]
            if part is not None:
                event = event._replace(offset=plus(event.offset, -part[0]), bytes=part[1])
        yield event


def _part(key: SiteKey, machine: Callable[[], Mapping[SiteKey, MachineSite]]) -> tuple[int, int] | None:
    """Where in the access of the machine that of a field is, and the bytes of that; None where it is one by itself."""
    node, _, _, bytes_ = key
    record = _record(node)
    if record is None or record.align <= bytes_:
        return None
    node = without_casts(node)
    field = record.field(node.field) if isinstance(node, ir.Member) else None
    site = machine().get(key)
    if field is None or site is None:
        return None
    widths = {made.wide.bytes for made in site.made if made.wide is not None}
    if not widths:
        return None
    width = min(max(widths), record.align)
    return field.offset % width, width


def residues_of(events: Iterable[AccessEvent], lanes: Lanes, width: int, base: int) -> tuple[int, ...]:
    """What is left of addresses modulo the width, as a set of bits, in each world; no bits where nobody comes."""
    rows = np.zeros(lanes.rows, np.int64)
    for event in events:
        bits = np.int64(1) << ((np.asarray(event.offset, np.int64) + base) % width)
        rows |= np.bitwise_or.reduce(np.where(event.mask, bits, 0), axis=1)
    found: list[int] = np.bitwise_or.reduce(rows.reshape(lanes.worlds, lanes.blocks), axis=1).tolist()
    return tuple(found)


def natural_width(size: int) -> int:
    """The alignment that an access of so many bytes needs: the largest power of two that divides it, at most 16."""
    return min(size & -size, _WIDEST) if size else 1


def needed_of(site: Site, layout: Mapping[ir.Symbol, int]) -> tuple[int, int]:
    """What the address of an access has to be a multiple of, and where a shared array itself starts. The fields of
    packed records are put together from parts that are as wide as the record is aligned."""
    width, record, symbol = natural_width(site.bytes), _record(site.node), site.allocation.symbol
    if record is not None and record.align:
        width = min(width, record.align)
    return width, layout.get(symbol, 0) if symbol is not None else 0


def _record(node: Any) -> ir.RecordType | None:
    """That of which a field is accessed."""
    node = without_casts(node) if isinstance(node, ir.Cast) else node
    while isinstance(node, ir.Index):
        node = without_casts(node.base)
    if not isinstance(node, ir.Member):
        return None
    type_ = node.base.type.pointee if isinstance(node.base.type, ir.PointerType) else node.base.type
    return type_ if isinstance(type_, ir.RecordType) else None


# --- what numbers have to be multiples of --------------------------------------------------------------


Terms = Mapping[str, tuple[int, ...]]
"""Integers by their names, in each world."""
_LONGEST_TEXT = 40
_MOST_TOGETHER = 3


class Requirement(Struct, frozen=True):
    """Conditions that all have to hold."""

    text: str
    names: tuple[str, ...]
    """Of the numbers that they are about."""
    divisor: int


def terms_of(batch: Batch) -> Terms:
    """The numbers that differ between the worlds: the open ones that the kernel is given, what else it is given, and
    the other open ones."""
    open_, given = (
        {tuple(map(int, values)): name for name, values in reversed(numbers.items()) if len(set(values)) > 1}
        for numbers in (numbers_of(batch), parameters_of(batch))
    )
    both = {name: values for values, name in reversed(open_.items()) if values in given}
    others = {name: values for values, name in reversed(given.items()) if values not in open_}
    return both | others | {name: values for values, name in reversed(open_.items()) if values not in given}


def is_whatever(residues: Sequence[int], terms: Terms, width: int, unit: int, batch: Batch) -> bool:
    """Whether lanes are misaligned whatever the numbers are: equally in all worlds, or in each that has several blocks
    where their number is open, among them one in which all numbers are multiples of the width; or as a sum that is
    never a multiple of it, such as `2 * K + 1`. See `requirement_of` for the arguments."""
    reached = [world for world, bits in enumerate(residues) if bits]
    if len({residues[world] for world in reached}) == 1:
        return True
    if all(residues[world].bit_count() == 1 for world in reached):
        sums = list(_sums_of(residues, width, _in(terms, reached), unit))
        # Few worlds may admit several sums: it is never aligned if none of the simplest ones ever is.
        return bool(sums) and all(each.is_never for each in sums if len(each.names) == len(sums[0].names))
    open_axes = [axis for axis in range(3) if len({grid[axis] for grid in batch.grid}) > 1]
    several = [world for world in reached if all(batch.grid[world][axis] > 1 for axis in open_axes)]
    if any(residues[world] == 1 for world in several):
        return False
    return any(all(values[world] % width == 0 for values in terms.values()) for world in several)


def requirement_of(residues: Sequence[int], width: int, terms: Terms, unit: int) -> Requirement | None:
    """What makes all lanes aligned. `residues` are the bits of what is left of lanes' addresses in each world; `unit`
    is what the array is declared to hold, in bytes, or 0."""
    worlds = [world for world, bits in enumerate(residues) if bits]
    if all(residues[world].bit_count() == 1 for world in worlds):
        first = next(_sums_of(residues, width, _in(terms, worlds), unit), None)
        return first.requirement() if first is not None else None
    aligned = [residues[world] == 1 for world in worlds]
    rests = (rest for world in worlds for rest in range(width) if residues[world] >> rest & 1)
    return _one_by_one(aligned, width // math.gcd(width, *rests), _in(terms, worlds))


def _in(terms: Terms, worlds: Sequence[int]) -> Terms:
    return {name: tuple(values[world] for world in worlds) for name, values in terms.items()}


class _Sum(Struct, frozen=True):
    """`c1 * K + c2 * H + rest`, which has to be a multiple of the width."""

    factors: Mapping[str, int]
    """Of numbers, or of a product of two of them."""
    names: tuple[str, ...]
    """The numbers themselves."""
    rest: int
    width: int

    @property
    def is_never(self) -> bool:
        """Whether no numbers make it a multiple."""
        return self.rest % math.gcd(self.width, *self.factors.values()) != 0

    def requirement(self) -> Requirement | None:
        shared = math.gcd(self.width, *self.factors.values())
        divisor = self.width // shared
        left = {name: factor // shared for name, factor in self.factors.items() if factor // shared % divisor}
        if divisor == 1 or not left or self.is_never:
            return None
        wanted = -self.rest // shared % divisor
        if len(left) == 1:
            ((name, factor),) = left.items()
            if factor % 2 == 0:
                return None
            wanted, left = wanted * pow(factor, -1, divisor) % divisor, {name: 1}
        parts = [name if factor == 1 else f"{factor} * {name}" for name, factor in left.items()]
        text = parts[0] if len(parts) == 1 else f"({' + '.join(parts)})"
        is_product = len(self.factors) < len(self.names)
        return Requirement(f"{text} % {divisor} == {wanted}", self.names if is_product else tuple(left), divisor)


_Named = tuple[tuple[str, ...], dict[str, Any]]
"""Integers, or a product of them, by what they are called, with the names that it consists of."""


def _sums_of(residues: Sequence[int], width: int, terms: Terms, unit: int) -> Iterator[_Sum]:
    """Where all lanes have the same rest: the sums of multiples of numbers, and of a constant, that leave it in all
    worlds; the simplest ones first."""
    wanted = np.array([bits.bit_length() - 1 for bits in residues if bits])
    step = math.gcd(unit, width) if unit else 1
    factors = range(step, width, step)
    one_by_one: list[_Named] = [((name,), {name: np.array(own)}) for name, own in terms.items()]
    pairs: list[_Named] = [
        ((one, other), {one: np.array(its), other: np.array(own)})
        for (one, its), (other, own) in itertools.combinations(terms.items(), 2)
    ]
    products: list[_Named] = [
        (names, {" * ".join(names): np.prod(list(own.values()), axis=0)}) for names, own in pairs
    ]
    for names, values in (*one_by_one, *products, *pairs):
        for own in itertools.product(factors, repeat=len(values)):
            rests = (wanted - np.array(own) @ np.array(list(values.values()))) % width
            if (rests == rests[0]).all():
                yield _Sum(dict(zip(values, own, strict=True)), names, int(rests[0]), width)


def _one_by_one(aligned: Sequence[bool], divisor: int, terms: Terms) -> Requirement | None:
    """Where lanes multiply numbers by different ones each of those has to be a multiple by itself. Worlds without the
    lanes that would be misaligned are aligned all the same: that is the case in as few of them as possible."""
    best: tuple[int, Requirement] | None = None
    for text, names, met, own in _candidates(terms, divisor):
        is_enough = all(fine for holds, fine in zip(met, aligned, strict=True) if holds)
        if not is_enough or not any(met):
            continue
        unneeded = sum(fine and not holds for holds, fine in zip(met, aligned, strict=True))
        if best is None or unneeded < best[0]:
            best = unneeded, Requirement(text, names, own)
    return best[1] if best is not None and len(best[1].text) <= _LONGEST_TEXT else None


def _candidates(terms: Terms, divisor: int) -> Iterator[tuple[str, tuple[str, ...], list[bool], int]]:
    """Those that are reported rather than others come first."""
    divisors = [own for own in dict.fromkeys((divisor, 2, 4, 8, 16)) if own > 1]
    for own in divisors:
        for name, values in terms.items():
            yield f"{name} % {own} == 0", (name,), [value % own == 0 for value in values], own
    for own in divisors:
        for (one, its), (other, others) in itertools.combinations(terms.items(), 2):
            products = [a * b for a, b in zip(its, others, strict=True)]
            yield f"{one} * {other} % {own} == 0", (one, other), [value % own == 0 for value in products], own
    for count in range(2, _MOST_TOGETHER + 1):
        for names in itertools.combinations(terms, count):
            for own in divisors:
                met = [all(each % own == 0 for each in numbers) for numbers in zip(*map(terms.get, names), strict=True)]
                yield " && ".join(f"{name} % {own} == 0" for name in names), names, met, own
