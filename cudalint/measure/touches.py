"""Who touches which bytes between two barriers: the accesses of an allocation as arrays, one entry for each lane and
unit of memory, and the pairs of sites that meet in one of them.

Units are the largest powers of two that divide all offsets and widths. An entry's time is that of a sort at most, and
only units that two threads touch, one of which writes, are sorted at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct

from cudalint.execute.butterflies import among
from cudalint.execute.lanes import Lanes
from cudalint.execute.memory import plus
from cudalint.execute.trace import AccessEvent, Stack
from cudalint.execute.values import Aggregate, Data, leaves
from cudalint.facts import Operation
from cudalint.hardware.requests import WARP_LANES
from cudalint.measure.arrays import Flags, Integers, Mask, sorted_by
from cudalint.measure.contention import Touched, contended

_SPARSE = 8
"""A table has at most so many units for each entry, or this many in all:"""
_TABLE = 1 << 18


class Site(NamedTuple):
    """An access of the source, as calls lead there."""

    node: Any
    operation: Operation
    bytes: int
    stack: Stack


class Kind(NamedTuple):
    """Executions of a site that have all of this in common."""

    site: Site
    is_conditional: bool
    """Data decides whether they happen."""
    is_by_data: bool
    """Data decides where."""
    is_of_block: bool = False
    """It is an atomic for the threads of a block only."""
    is_own: bool = False
    """It stores what it has found in the same place."""


class Part(NamedTuple):
    """An event of the trace, or its lanes that are in one interval."""

    number: int
    """Of the event in the trace."""
    kind: int
    event: AccessEvent
    mask: Mask
    origin: AccessEvent | None = None
    """The load of memory that nobody writes from which comes what it stores."""
    codes: Any = None
    """Of what it stores, where that is no number: see `stored.py`."""


class Entries(Struct, frozen=True, eq=False):
    """Accesses of single threads to single units, n of them."""

    place: Integers
    """A number for each unit of memory that has to be distinguished: of a row, or of a world."""
    unit: Integers
    """In bytes from the start of the allocation; -1 where data decides."""
    row: Integers
    lane: Integers
    number: Integers
    """Of the event."""
    kind: Integers
    warp_interval: Integers
    value: Integers
    """What is stored, as far as equal numbers are equal values."""
    is_known: Flags
    """Whether that is a number."""
    start: Integers
    """The byte where the access begins."""

    def only(self, chosen: Any) -> Entries:
        return Entries(*(getattr(self, name)[chosen] for name in self.__struct_fields__))

    def __len__(self) -> int:
        return len(self.place)


class Pairs(NamedTuple):
    """Entries, by their numbers, that meet: m pairs, of different threads, at least one of which writes."""

    first: Integers
    second: Integers
    is_benign: Flags
    """All that both sites store there is one known value."""


def entries_of(
    parts: Iterable[Part], lanes: Lanes, rows: Integers, extent: int | None, writes: Flags | None = None,
    blocks: int | None = None,
) -> tuple[Entries, int] | None:  # fmt: skip
    """The entries of some rows, with the bytes of a unit; places are those of rows. None without any. Where data
    decides which bytes they are, no part has entries, and none has what begins outside of the allocation's extent. With
    the kinds that write, those that meet no other thread, or block of their world, may be left out (`contended`)."""
    found: list[Touched] = []
    where: dict[int, tuple[Any, Any]] = {}
    low_bits = 0
    for part in parts:
        event = part.event
        if isinstance(event.offset, Data):
            continue
        if id(part.mask) not in where:
            active: Any = np.nonzero(part.mask if len(rows) == lanes.rows else part.mask[rows])
            where[id(part.mask)] = active
        at, lane = where[id(part.mask)]
        if not len(at):
            continue
        start = _chosen(event.offset, rows, at, lane)
        if extent is not None and (int(start.min()) < 0 or int(start.max()) >= extent):
            within_it = np.flatnonzero((start >= 0) & (start < extent))
            start, at, lane = start[within_it], at[within_it], lane[within_it]
            if not len(at):
                continue
        low_bits |= int(np.bitwise_or.reduce(start)) | event.bytes
        found.append(Touched(part, start, at, lane))
    unit = low_bits & -low_bits
    touched = contended(found, unit, writes, blocks) if writes is not None and found else found
    if not touched:
        return None
    columns: list[tuple[Any, ...]] = []
    for part, start, at, lane in touched:
        value, is_known = _codes(part, rows, at, lane)
        warp_interval = _chosen(part.event.warp_interval, rows, at, lane)
        columns.append((start, at, lane, warp_interval, value, part.number, part.kind, is_known, part.event.bytes))
    sizes = np.array([len(column[0]) for column in columns])
    of_lanes = [np.concatenate([column[i] for column in columns]) for i in range(5)]
    of_parts = [np.repeat([column[i] for column in columns], sizes) for i in range(5, 9)]
    repeats = of_parts.pop() // unit
    every: list[Any] = [*of_lanes, *of_parts]
    within: Any = 0
    if repeats.max() > 1:
        every = [np.repeat(each, repeats) for each in every]
        ends = np.cumsum(repeats)
        within = np.arange(ends[-1]) - np.repeat(ends - repeats, repeats)
    start, at, lane, warp_interval, value, number, kind, is_known = every
    units = start // unit + within
    place = places_of(at, units)
    entries = Entries(place, units * unit, rows[at], lane, number, kind, warp_interval, value, is_known, start)
    return entries, unit


_FAR = 1 << 40
"""Units from the first to the last one of an allocation, from which on they are numbered before rows are: indices that
overflow lead as far as integers go."""


def places_of(rows: Integers, units: Integers) -> Integers:
    """Numbers for units of rows, or of worlds, wherever the units are."""
    low = int(units.min())
    span = int(units.max()) - low + 1
    if span >= _FAR:
        units = np.unique(units, return_inverse=True)[1].reshape(-1)
        low, span = 0, int(units.max()) + 1
    return dense(rows * span + (units - low))


def anywhere(parts: Iterable[Part], lanes: Lanes, rows: Integers) -> Entries | None:
    """Entries of some rows as if all touched one unit of their row: of each warp the first and the last active lane."""
    found: list[tuple[Integers, ...]] = []
    for part in parts:
        active = lanes.by_warp(part.mask)[rows]
        at, warp = np.nonzero(active.any(axis=2))
        own = active[at, warp]
        for lane in (own.argmax(axis=1), WARP_LANES - 1 - own[:, ::-1].argmax(axis=1)):
            of_block = warp * WARP_LANES + lane
            intervals = _chosen(part.event.warp_interval, rows, at, of_block)
            value, is_known = _of_all_lanes(part, rows, at)
            # What is as wide meets as a whole.
            same = (np.full(len(at), each) for each in (part.number, part.kind, is_known, part.event.bytes))
            number, kind, known, start = same
            found.append((at, at * 0 - 1, rows[at], of_block, number, kind, intervals, value, known, start))
    return Entries(*(np.concatenate(each) for each in zip(*found, strict=True))) if found else None


def _of_all_lanes(part: Part, rows: Integers, at: Integers) -> tuple[Integers, bool]:
    """The number that all lanes of a row store, of which some stand for the others; whether there is one."""
    event = part.event
    value = bits_of(event) if event.operation == "store" else None
    if value is None or (type(value) is np.ndarray and value.shape[1] > 1):
        return np.zeros(len(at), np.int64), False
    return _chosen(value, rows, at, at), True


def _chosen(values: Any, rows: Integers, at: Integers, lane: Integers) -> Integers:
    """Of a number, or of an array of 1 or R rows by 1 or L lanes, what chosen rows and lanes have."""
    if type(values) is not np.ndarray:
        return np.full(len(at), int(values), np.int64)
    of_rows = values[rows[at] if values.shape[0] > 1 else 0, lane if values.shape[1] > 1 else 0]
    return np.broadcast_to(of_rows, at.shape).astype(np.int64)


def _codes(part: Part, rows: Integers, at: Integers, lane: Integers) -> tuple[Integers, bool]:
    """Stored numbers such that equal ones are equal values; whether there are any."""
    event, origin = part.event, part.origin
    if origin is not None:
        found = _chosen(origin.offset, rows, at, lane)
        return found + (hash((id(origin.allocation), origin.bytes)) & _ORIGINS) * (_ORIGINS + 1), True
    if part.codes is not None:
        return _chosen(part.codes.view(np.int64), rows, at, lane), True
    value = event.value
    if event.operation == "store" and isinstance(value, Data):
        shared = among(value)
        own = (rows[at] << _LANE_BITS) + (lane & ~shared)
        return own + (hash((part.number, id(value))) & _ORIGINS) * (_ORIGINS + 1), bool(shared)
    value = bits_of(event) if event.operation == "store" else None
    if value is None:
        return np.zeros(len(at), np.int64), False
    return _chosen(value, rows, at, lane), True


def bits_of(event: AccessEvent) -> Any:
    """What is stored as integers of the same bits; None where it is no number."""
    value = event.value
    if type(value) not in (int, bool, float, np.ndarray):
        return None
    if type(value) is float or (type(value) is np.ndarray and value.dtype.kind == "f"):
        if event.bytes not in _FLOATS:
            return None
        float_, bits = _FLOATS[event.bytes]
        with np.errstate(over="ignore"):
            return np.atleast_2d(np.asarray(value).astype(float_)).view(bits)
    if type(value) is np.ndarray and value.dtype.kind not in "iub":
        return None
    return value & (2**63 - 1) if type(value) is int and not -(2**63) <= value < 2**63 else value


_FLOATS = {2: (np.float16, np.int16), 4: (np.float32, np.int32), 8: (np.float64, np.int64)}
"""By their bytes, with integers of the same bits."""


_LANE_BITS = 11
"""Of the number of a thread in its block."""
_ORIGINS = (1 << 31) - 1
"""What is loaded from one place has a number that other places, and what is not loaded, have by accident only."""


def dense(keys: Integers) -> Integers:
    """Integers from 0 on that are equal where keys are, not many more than there are keys."""
    keys = keys - keys.min()
    if int(keys.max()) < max(_TABLE, _SPARSE * len(keys)):
        return keys
    found: Integers = np.unique(keys, return_inverse=True)[1].reshape(-1)
    return found


def changed(entries: Entries, writes: Flags, own: Flags) -> Flags:
    """All entries but stores of what stands there, in places where nobody stores anything else."""
    is_own = own[entries.kind]
    found = np.zeros(int(entries.place.max(initial=0)) + 1, bool)
    found[entries.place[writes[entries.kind] & ~is_own]] = True
    return ~is_own | found[entries.place]


def contested(entries: Entries, who: Integers, writes: Flags) -> Flags:
    """The entries of places that two touch, one of which writes."""
    size = int(entries.place.max(initial=0)) + 1
    writer = np.full(size, -1, np.int64)
    is_write = writes[entries.kind]
    writer[entries.place[is_write]] = who[is_write]
    last = writer[entries.place]
    is_contested = np.zeros(size, bool)
    is_contested[entries.place[(last >= 0) & (last != who)]] = True
    return is_contested[entries.place]


def read_by_writers(entries: Entries, writes: Flags) -> Flags:
    """The loads of what their threads have stored before, where all that is stored is one known value: whoever stores
    it last, they find it."""
    found = np.zeros(len(entries), bool)
    if not writes[entries.kind].any():
        return found
    order = sorted_by(entries.place, entries.lane, entries.number)
    place, kind = entries.place[order], entries.kind[order]
    stores = np.flatnonzero(writes[kind])
    is_new = np.concatenate(([True], place[stores][1:] != place[stores][:-1]))
    low = np.flatnonzero(is_new)
    same, _, _ = _stored(entries, order[stores], low)
    is_one_value = np.zeros(int(place.max()) + 1, bool)
    is_one_value[place[stores][low]] = same
    lane = entries.lane[order]
    is_first = np.concatenate(([True], (place[1:] != place[:-1]) | (lane[1:] != lane[:-1])))
    begins = np.flatnonzero(is_first)
    has_stored = np.cumsum(writes[kind])
    lengths = np.diff(np.concatenate((begins, [len(order)])))
    before: Integers = np.repeat(has_stored[begins] - writes[kind[begins]], lengths)
    found[order] = ~writes[kind] & is_one_value[place] & (has_stored > before)
    return found


def _crowded(entries: Entries, key: Integers, who: Integers, may_race: Flags) -> Flags:
    """Of the kinds that may race at all the entries of keys that several share."""
    races: Flags = np.any(may_race, axis=0)
    found: Flags = races[entries.kind]
    size = int(key.max(initial=0)) + 1
    if size <= max(_TABLE, _SPARSE * len(key)):
        last = np.zeros(size, np.int64)
        last[key[found]] = who[found]
        is_shared = np.zeros(size, bool)
        is_shared[key[found & (last[key] != who)]] = True
        found &= is_shared[key]
    return found


def meetings(entries: Entries, key: Integers, who: Integers, may_race: Flags) -> Pairs:
    """For each key, the pairs of kinds that meet there: two entries of different `who` each, if there are.

    `may_race` says of two kinds [k, k] whether they race.
    """
    chosen = np.flatnonzero(_crowded(entries, key, who, may_race))
    order = chosen[sorted_by(key[chosen], entries.kind[chosen], who[chosen], entries.number[chosen])]
    key, who, kind = key[order], who[order], entries.kind[order]
    if not len(order):
        return Pairs(order, order, order.astype(bool))
    is_new = np.concatenate(([True], (key[1:] != key[:-1]) | (kind[1:] != kind[:-1])))
    low = np.flatnonzero(is_new)
    high = np.concatenate((low[1:], [len(order)])) - 1
    same, value, relative = _stored(entries, order, low)
    found: list[tuple[Integers, Integers, Flags]] = []
    own = np.flatnonzero((who[low] != who[high]) & may_race[kind[low], kind[low]])
    found.append((low[own], high[own], same[own]))
    # Runs with one of the same key so far behind them: with one yet farther behind, they are among these.
    ahead = np.arange(len(low))
    for distance in range(1, len(low)):
        ahead = ahead[: np.searchsorted(ahead, len(low) - distance)]
        ahead = ahead[key[low[ahead]] == key[low[ahead + distance]]]
        if not len(ahead):
            break
        one, other = ahead, ahead + distance
        together = may_race[kind[low[one]], kind[low[other]]]
        is_one = who[low[one]] == who[high[other]]
        together = together & ~(is_one & (who[high[one]] == who[low[other]]))
        one, other, is_one = one[together], other[together], is_one[together]
        benign = same[one] & same[other] & (value[one] == value[other]) & (relative[one] == relative[other])
        first = np.where(is_one, high[one], low[one])
        found.append((first, np.where(is_one, low[other], high[other]), benign))
    first, second, benign = (np.concatenate([each[i] for each in found]) for i in range(3))
    return Pairs(order[first], order[second], benign)


def _stored(entries: Entries, order: Integers, low: Integers) -> tuple[Flags, Integers, Integers]:
    """Of each run of entries, whether all store one and the same known value, which, and where in it the unit is."""
    value, relative = entries.value[order], (entries.unit - entries.start)[order]
    is_same = np.minimum.reduceat(entries.is_known[order], low)
    for each in (value, relative):
        is_same = is_same & (np.minimum.reduceat(each, low) == np.maximum.reduceat(each, low))
    return is_same, value[low], relative[low]


class Shifts:
    """Arrays of offsets [R, L] with the same distance taken from all those of an allocation, for each row."""

    def __init__(self, for_own: bool) -> None:
        self._for_own = for_own
        self._bases: dict[int, Any] = {}

    def offsets_of(self, event: AccessEvent, is_origin: bool) -> Any:
        offset = event.offset
        if isinstance(offset, Data) or not (is_origin or self._for_own):
            return offset
        key = id(event.allocation)
        if key not in self._bases:
            self._bases[key] = offset[:, :1] if type(offset) is np.ndarray else offset
        return offset - self._bases[key]


def classes_of_rows(parts: Sequence[Part], lanes: Lanes, shifts: bool, known: Integers) -> Integers:
    """A number for each row, equal for rows that do the same, and have the same known number; with `shifts`, up to a
    distance by which all offsets of one lie behind those of the other."""
    found = known
    shifted = Shifts(shifts)
    seen: set[int] = set()
    for part in parts:
        event = part.event
        loaded = shifted.offsets_of(part.origin, True) if part.origin is not None else None
        own = shifted.offsets_of(event, False)
        value = event.value if event.operation == "store" else None
        for array in (part.mask, own, loaded, event.warp_interval, value, part.codes):
            if type(array) is not np.ndarray or array.shape[0] < lanes.rows or id(array) in seen:
                continue
            if array is not own and array is not loaded:
                seen.add(id(array))
            found = _refined(found, array)
    return found


def _refined(classes: Integers, array: Any) -> Integers:
    if (array == array[:1]).all():
        return classes
    numbers: dict[tuple[int, bytes], int] = {}
    rows = zip(classes.tolist(), np.ascontiguousarray(array), strict=True)
    return np.array([numbers.setdefault((old, row.tobytes()), len(numbers)) for old, row in rows])


# --- parts of events in intervals, and what they store -------------------------------------------------


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


def pieces_of(
    event: AccessEvent, written: Set[int]
) -> Iterator[tuple[AccessEvent, AccessEvent | None, Mask, bool]]:
    """An event, with its lanes; a store of a vector as those of its numbers. Of a store also the load that its value is
    from, if that is of an allocation that is not among those that are `written`, by identity; and once more the lanes
    that store what they have loaded from the same place in the same interval, with True: as long as nobody else stores
    there, that changes nothing."""
    pieces, value = [event], event.value
    if event.operation == "store" and type(value) is Aggregate and value.type.bytes == event.bytes:
        parts = [(at, type_.bytes, value.cells.get(at)) for at, type_ in leaves(value.type)]
        if sum(bytes_ for _, bytes_, _ in parts) == event.bytes:
            pieces = [event._replace(offset=plus(event.offset, at), bytes=own, value=cell) for at, own, cell in parts]
    for piece in pieces:
        value, load = piece.value, None
        if piece.operation == "store" and isinstance(value, Data) and not value.is_derived:
            load = value.origin
        if load is None or isinstance(load.offset, Data):
            yield piece, None, piece.mask, False
            continue
        origin = load if id(load.allocation) not in written else None
        is_other = load.allocation is not piece.allocation or load.bytes != piece.bytes
        if is_other or isinstance(piece.offset, Data):
            yield piece, origin, piece.mask, False
            continue
        is_same = (piece.offset == load.offset) & np.equal(piece.interval, load.interval)
        for mask, is_own in ((piece.mask & ~is_same, False), (piece.mask & is_same, True)):
            if mask.any():
                yield piece, origin, mask, is_own


def same_values(entries: Entries, first: Integers, second: Integers) -> Flags:
    same: Flags = entries.is_known[first] & entries.is_known[second]
    same &= entries.value[first] == entries.value[second]
    same &= entries.start[first] == entries.start[second]
    return same
