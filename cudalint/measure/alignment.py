"""Accesses at bytes that are no multiple of their width, on which the hardware faults ("misaligned address").

Allocations start at multiples of 256 bytes, as those of `cudaMalloc` do (CUDA C++ Programming Guide, "Device Memory
Accesses"); shared arrays lie where nvcc puts them, and a thread's own variables are aligned to what is accessed there.
"""

from __future__ import annotations

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
from cudalint.measure.machine_accesses import MachineSite, SiteKey
from cudalint.measure.multiples import Requirement, is_whatever, requirement_of, terms_of
from cudalint.measure.rows import Rows
from cudalint.measure.shared_layout import alignment
from cudalint.measure.wrongs import Found, Site, Wrong, found_of, sites_of
from cudalint.worlds.records import Batch

_WIDEST = 16
_MOST_DRAWN = 64
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


def misaligned(
    kernel: ir.Function, trace: Trace, batch: Batch, layout: Mapping[ir.Symbol, int], open_axes: int = 0,
    machine: Callable[[], Mapping[SiteKey, MachineSite]] = dict,
) -> Iterator[Misaligned]:  # fmt: skip
    """In the order of the trace. `layout` has the places of shared arrays, `open_axes` is along how many the number
    of blocks is open, and `machine` is asked for what the compiler makes of accesses."""
    units, numbers, rows = _units(kernel), terms_of(batch), None
    for found, events, is_drawn in misaligned_sites(trace, layout, machine):
        width, base = width_of(found.site), base_of(found.site, layout)
        residues = residues_of(events, trace.lanes, width, base)
        unit = units.get(found.site.allocation.name, 0)
        if is_whatever(residues, numbers, width, unit, batch):
            # What only data misaligns it may as well not.
            if not is_drawn:
                yield Misaligned(found, width, base, None)
            continue
        needed = requirement_of(residues, width, numbers, unit)
        if needed is None:
            continue
        rows = rows or Rows.of(kernel, batch, open_axes)
        if not rows.are_the_callers(needed, unit, found.site.allocation.space):
            yield Misaligned(found, width, base, needed, is_drawn)


def misaligned_sites(
    trace: Trace, layout: Mapping[ir.Symbol, int], machine: Callable[[], Mapping[SiteKey, MachineSite]] = dict
) -> Iterator[tuple[Found, Sequence[AccessEvent], bool]]:
    """All sites at which lanes are misaligned in some world, with their executions, and whether data that was drawn
    goes into the addresses."""

    def asks(site: Site) -> Wrong | None:
        width = width_of(site)
        return _wrong(width, base_of(site, layout)) if width > 1 and site.allocation.space in _STARTING else None

    drawn = {id(event.node) for event in trace.accesses if type(event.offset) is Drawn}
    wholes: dict[SiteKey, Any] = {}
    events = (_whole(event, machine, wholes) for event in _with_numbers(trace))
    sites = sites_of(events)
    for found in found_of(sites, trace, asks):
        yield found, sites[found.site], id(found.site.node) in drawn


def _with_numbers(trace: Trace) -> Iterator[AccessEvent]:
    """The accesses, with numbers for the data that goes into their addresses: nobody knows them, and any may be there.
    Some of the executions tell as much as all."""
    made: Counter[int] = Counter()
    known: Known = {}
    for event in trace.accesses:
        if type(event.offset) is Drawn:
            made[id(event.node)] += 1
            if made[id(event.node)] > _MOST_DRAWN:
                continue
            numbers, _ = event.offset.numbers(trace.lanes, known)
            event = event._replace(offset=numbers.astype(np.int64) if type(numbers) is np.ndarray else int(numbers))
        yield event


def _whole(
    event: AccessEvent, machine: Callable[[], Mapping[SiteKey, MachineSite]], known: dict[SiteKey, Any]
) -> AccessEvent:
    """The access that the compiler makes of those of several fields of a record: it takes that to be as aligned as it
    is declared to be."""
    if event.allocation.space != "global" or isinstance(event.offset, Data):
        return event
    key = event.node, event.stack, event.operation, event.bytes
    if key not in known:
        known[key] = _part(event, machine, key)
    if known[key] is None:
        return event
    begin, width = known[key]
    return event._replace(offset=plus(event.offset, -begin), bytes=width)


def _part(
    event: AccessEvent, machine: Callable[[], Mapping[SiteKey, MachineSite]], key: SiteKey
) -> tuple[int, int] | None:
    """Where in the access of the machine that of a field is, and the bytes of that; None where it is one by itself."""
    record = _record(event.node)
    if record is None or record.align <= event.bytes:
        return None
    node = without_casts(event.node)
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


def width_of(site: Site) -> int:
    """What the address has to be a multiple of. The fields of packed records are put together from parts that are as
    wide as the record is aligned."""
    width, record = natural_width(site.bytes), _record(site.node)
    return min(width, record.align) if record is not None and record.align else width


def base_of(site: Site, layout: Mapping[ir.Symbol, int]) -> int:
    symbol = site.allocation.symbol
    return layout.get(symbol, 0) if symbol is not None else 0


def _record(node: Any) -> ir.RecordType | None:
    """That of which a field is accessed."""
    node = without_casts(node) if isinstance(node, ir.Cast) else node
    while isinstance(node, ir.Index):
        node = without_casts(node.base)
    if not isinstance(node, ir.Member):
        return None
    type_ = node.base.type.pointee if isinstance(node.base.type, ir.PointerType) else node.base.type
    return type_ if isinstance(type_, ir.RecordType) else None


def _wrong(width: int, base: int) -> Wrong:
    def wrong(event: AccessEvent, offset: Any) -> Any:
        return (offset + base) % width != 0

    return wrong


def _units(kernel: ir.Function) -> dict[str, int]:
    """The alignment of what each parameter points to, and what the fields of structures do that are passed."""
    found: dict[str, int] = {}
    left = [(symbol.name, symbol.type) for symbol in kernel.parameters]
    while left:
        name, type_ = left.pop()
        if isinstance(type_, ir.PointerType):
            found[name] = alignment(type_.pointee) if type_.pointee.bytes else 0
        elif isinstance(type_, ir.RecordType):
            left += [(f"{name}.{field.name}", field.type) for field in type_.fields]
    return found
