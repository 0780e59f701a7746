"""What the search for races makes of events before it looks at them: their parts in intervals, and what they store."""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import Any

import numpy as np

from cudalint.execute.butterflies import among
from cudalint.execute.memory import plus
from cudalint.execute.trace import AccessEvent
from cudalint.execute.values import Aggregate, Data, leaves
from cudalint.measure.arrays import Flags, Integers
from cudalint.measure.touches import Entries, Part


def split(parts: Iterable[Part], by: str) -> dict[int, list[Part]]:
    """The parts of each interval, which is a number for each event, or for each of its lanes."""
    found: dict[int, list[Part]] = {}
    known: dict[tuple[int, int], list[tuple[int, Any]]] = {}
    for part in parts:
        interval = getattr(part.event, by)
        if type(interval) is not np.ndarray:
            found.setdefault(interval, []).append(part)
            continue
        key = id(interval), id(part.mask)
        if key not in known:
            wide = np.broadcast_to(interval, part.mask.shape)
            values = np.unique(wide[part.mask]).tolist()
            known[key] = [(v, part.mask & (wide == v) if len(values) > 1 else part.mask) for v in values]
        for value, mask in known[key]:
            found.setdefault(value, []).append(part._replace(mask=mask))
    return found


def hashed(value: Any) -> object:
    """Equal for equal numbers and arrays, and for data that as many lanes have in common; with hardly any chance for
    others."""
    if type(value) is np.ndarray:
        return value.shape, hash(value.tobytes())
    if isinstance(value, Data):
        return "data", among(value)
    return value if isinstance(value, (int, float)) else None


def covering(entries: Entries, units: int) -> set[int]:
    """The kinds of which two threads or more take all units of an allocation, in some row."""
    found: set[int] = set()
    for kind in np.unique(entries.kind).tolist():
        own = np.flatnonzero(entries.kind == kind)
        row = entries.row[own]
        own = own[row == row[0]]
        is_whole = len(np.unique(entries.place[own])) >= units
        if is_whole and entries.lane[own].min() != entries.lane[own].max():
            found.add(kind)
    return found


def pieces_of(event: AccessEvent) -> list[AccessEvent]:
    """A store of a vector as those of its numbers."""
    value = event.value
    if event.operation != "store" or type(value) is not Aggregate or value.type.bytes != event.bytes:
        return [event]
    parts = [(at, type_.bytes, value.cells.get(at)) for at, type_ in leaves(value.type)]
    if sum(bytes_ for _, bytes_, _ in parts) != event.bytes:
        return [event]
    return [event._replace(offset=plus(event.offset, at), bytes=bytes_, value=own) for at, bytes_, own in parts]


def origin_of(event: AccessEvent, written: Set[int]) -> AccessEvent | None:
    value = event.value
    if event.operation != "store" or not isinstance(value, Data) or value.origin is None or value.is_derived:
        return None
    is_constant = id(value.origin.allocation) not in written and not isinstance(value.origin.offset, Data)
    return value.origin if is_constant else None


def same_values(entries: Entries, first: Integers, second: Integers) -> Flags:
    same: Flags = entries.is_known[first] & entries.is_known[second]
    same &= entries.value[first] == entries.value[second]
    same &= entries.start[first] == entries.start[second]
    return same
