"""Races: two threads touch the same bytes, at least one writes, not both by atomics, and no barrier is between.

Threads of a warp are in no lock-step: `__syncwarp` orders them. Blocks are ordered by barriers of the grid only. An
asynchronous copy writes where it is issued. Turns of loops are executed one after another, so that the tail of one and
the head of the next are in one interval if no barrier is between them, and race like everything else.

A race is reported once for each pair of sites in an allocation, within blocks and between them, with two threads that
race; those whose bytes data decides are possible ones, and separate from the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace as replaced

from cudalint.execute.lanes import Extents
from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent, Trace
from cudalint.execute.values import Aggregate, Data
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.measure.arrays import Flags, Integers
from cudalint.measure.bounds import extent_of
from cudalint.measure.order import Exchanges, WarpOrder, under_way
from cudalint.measure.sought import Sought, asked_of
from cudalint.measure.touches import (
    Entries,
    Kind,
    Pairs,
    Part,
    Shifts,
    Site,
    anywhere,
    changed,
    classes_of_rows,
    contested,
    covering,
    entries_of,
    hashed,
    meetings,
    pieces_of,
    places_of,
    read_by_writers,
    same_values,
    split,
)

MOST_ACCESSES = 1 << 21
"""Of single threads to one allocation, in intervals that differ; in further ones races are not looked for."""
Reach = Literal["warp", "block", "grid"]
CodesOf = Callable[[int, AccessEvent], Any]
"""Integers [R, L] for what an event stores, by its number in the trace, such that equal ones are equal values."""


class RaceEnd(NamedTuple):
    """One of the two accesses of a race, and the thread that makes it."""

    site: Site
    thread: Extents
    block: Extents
    number: int
    """Of its event in the trace; of what a library touches, how many accesses come before."""
    event: AccessEvent


class Race(Struct, frozen=True, eq=False):
    """Two accesses of the same bytes that nothing orders."""

    allocation: Allocation
    first: RaceEnd
    """The one that comes first in the trace, which is one order of many."""
    second: RaceEnd
    byte: int | None
    """From the start of the allocation; None where data decides which it is."""
    reach: Reach
    """What the two threads share. Those of a warp are reported only where no two of different warps race."""
    world: int
    """That of the two threads."""
    worlds: tuple[int, ...]
    """In which there is such a race."""
    is_benign: bool
    """The outcome is the same in any order: all racing accesses of the two sites store one value, a number or what
    was loaded from one place that nobody writes; or who loads has stored it, too."""
    is_conditional: bool
    """Data decides whether one of the two happens."""
    is_carried: bool
    """The second belongs to a later turn of a loop around both."""
    is_covered: bool = False
    """Of one for which data decides the bytes of one access: threads take all bytes of the allocation by the other one
    in this interval, so that they meet whatever data decides, but for a thread that meets itself."""

    @property
    def ends(self) -> tuple[RaceEnd, RaceEnd]:
        return self.first, self.second


class Races(Struct, frozen=True):
    """Those of a launch, in the order of the trace."""

    found: list[Race] = field(default_factory=list)
    possible: list[Race] = field(default_factory=list)
    """Those for which two threads would have to choose the same bytes: data decides which they take."""
    missed: list[Allocation] = field(default_factory=list)
    """What was not looked at in full: there are too many accesses."""
    private: list[Allocation] = field(default_factory=list)
    """What was not looked at, since data leads each thread to memory of its own, or of another one."""


class _Candidate(NamedTuple):
    """Two entries that race, and the rows that do what these do."""

    entries: Entries
    first: int
    second: int
    reach: Reach
    is_benign: bool
    is_covered: bool
    worlds: frozenset[int]


def races_of(
    trace: Trace, volatile: Set[ir.Span] = frozenset(), between_blocks: bool = True, codes: CodesOf | None = None,
    sought: Sought | None = None,
) -> Races:  # fmt: skip
    """All races of an execution, or those within blocks, or at least those that are sought. `volatile` has the places
    of what is declared so; `codes` distinguishes values that are no numbers, and is asked where it matters."""
    found = Races()
    by_allocation: dict[int, list[tuple[int, AccessEvent]]] = {}
    for number, event in (*enumerate(trace.accesses), *trace.touched):
        if event.allocation.space in ("shared", "global") and event.bytes > 0:
            by_allocation.setdefault(id(event.allocation), []).append((number, event))
    for number, event in under_way(trace):
        by_allocation[id(event.allocation)].append((number, event))
    order, exchanges = WarpOrder(trace), Exchanges(trace)
    written = {key for key, events in by_allocation.items() if any(event.operation != "load" for _, event in events)}
    for key, events in by_allocation.items():
        varies = events[0][1].allocation.varies
        if key in written and varies == "thread":
            found.private.append(events[0][1].allocation)
        elif key in written:
            own = _Allocated(trace, order, exchanges, volatile, by_allocation[key], written, sought)
            own.into(found, between_blocks and not varies, codes)
    for races in (found.found, found.possible):
        races.sort(key=lambda race: (race.first.number, race.second.number))
    return found


class _Allocated:
    """The races in one allocation."""

    def __init__(
        self, trace: Trace, order: WarpOrder, exchanges: Exchanges, volatile: Set[ir.Span],
        events: Sequence[tuple[int, AccessEvent]], written: Set[int], sought: Sought | None,
    ) -> None:  # fmt: skip
        """`written` has the identities of allocations that somebody writes."""
        self._trace, self._order, self._lanes = trace, order, trace.lanes
        self._accesses = 0
        self._exchanges = exchanges
        self._allocation = events[0][1].allocation
        self._extent = extent_of(self._allocation)
        self._kinds: dict[Kind, int] = {}
        self._first: dict[Site, int] = {}
        self._parts: list[Part] = []
        self._events = {(number, id(event.node)): event for number, event in events}
        numbers: dict[tuple[object, ...], int] = {}
        for number, event in events:
            is_by_data = isinstance(event.offset, Data)
            kind = event.data > 0, is_by_data, event.is_of_block
            site = Site(event.node, event.operation, event.bytes, event.stack)
            self._first.setdefault(site, number)
            for piece, origin, mask, is_own in pieces_of(event, written):
                key = id(event.node), id(event.stack), event.operation, event.bytes, *kind, is_own
                at = numbers.get(key)
                if at is None:
                    at = numbers[key] = self._kinds.setdefault(Kind(site, *kind, is_own), len(self._kinds))
                self._parts.append(Part(number, at, piece, mask, origin))
        self._covering: set[int] = set()
        """Kinds that take all bytes in the interval that is looked at."""
        self._masks: dict[int, tuple[object, Any]] = {}
        self._candidates: dict[tuple[bool, bool, frozenset[Site]], list[_Candidate]] = {}
        # An asynchronous copy reads global memory, and writes shared memory.
        reads = ("load", "async-copy") if self._allocation.space == "global" else ("load",)
        self._is_volatile = np.array([kind.site.node.span in volatile for kind in self._kinds])
        self._writes = np.array([kind.site.operation not in reads for kind in self._kinds])
        atomic = np.array([kind.site.operation == "atomic" for kind in self._kinds])
        by_data = np.array([kind.is_by_data for kind in self._kinds])
        self._own = np.array([kind.is_own for kind in self._kinds])
        of_block = np.array([kind.is_of_block for kind in self._kinds])
        writes, either = self._writes[:, None] | self._writes, by_data[:, None] | by_data
        may_race = writes & ~(atomic[:, None] & atomic)
        self._known, self._open = may_race & ~either, may_race & either
        # Between blocks, atomics of a block are accesses like any other.
        self._across = (may_race | (writes & (of_block[:, None] | of_block))) & ~either
        if sought is not None:
            asked = asked_of([kind.site.node.span for kind in self._kinds], sought, self._writes)
            self._known, self._open, self._across = (each & asked for each in (self._known, self._open, self._across))
            has_any = (self._known | self._open | self._across).any(axis=0)
            left = has_any | self._writes if has_any.any() else has_any
            self._parts = [part for part in self._parts if left[part.kind]]

    def into(self, races: Races, between_blocks: bool, codes: CodesOf | None) -> None:
        """Notes the races. What is stored is asked for only where threads write over each other."""
        if not self._parts:
            return
        self._look(races, between_blocks)
        if codes is not None and any(self._is_of_stores(sites) for (_, _, sites) in self._candidates):
            self._parts = [self._with_codes(part, codes) for part in self._parts]
            if any(part.codes is not None for part in self._parts):
                self._candidates.clear()
                self._look(races, between_blocks)
        for (is_open, _, _), candidates in self._candidates.items():
            (races.possible if is_open else races.found).append(self._race(candidates, is_open))

    def _is_of_stores(self, sites: frozenset[Site]) -> bool:
        of_them = (each for (_, _, own), found in self._candidates.items() if own == sites for each in found)
        return all(site.operation == "store" for site in sites) and not all(each.is_benign for each in of_them)

    def _with_codes(self, part: Part, codes: CodesOf) -> Part:
        event = self._events[part.number, id(part.event.node)]
        if part.origin is not None or event.operation != "store" or not isinstance(event.value, (Aggregate, Data)):
            return part
        found = codes(part.number, event)
        if found is None or event is part.event:
            return part._replace(codes=found)
        # A number of a vector is the same where the vector is, at its place in it.
        if not isinstance(part.event.value, Data) or isinstance(event.offset, Data):
            return part
        place = np.max(np.asarray(part.event.offset) - event.offset)
        return part._replace(codes=found + np.uint64(place))

    def _look(self, races: Races, between_blocks: bool) -> None:
        seen: set[object] = set()
        for interval, parts in split(self._parts, "interval").items():
            # Barriers of parts of warps don't belong to it.
            signature = interval if self._order.needed.any() else self._signature(parts)
            if signature not in seen and any(self._writes[part.kind] for part in parts):
                seen.add(signature)
                if not self._in_block(parts):
                    races.missed.append(self._allocation)
                    break
        if between_blocks and self._allocation.space == "global" and self._lanes.blocks > 1:
            for parts in split(self._parts, "grid_interval").values():
                if any(self._writes[part.kind] for part in parts):
                    if self._is_too_much(parts):
                        races.missed.append(self._allocation)
                        break
                    self._across_blocks(parts)

    def _is_too_much(self, parts: Sequence[Part], rows: Any = slice(None)) -> bool:
        """With those of an interval in some rows."""
        self._accesses += sum(int(np.count_nonzero(part.mask[rows])) for part in parts)
        return self._accesses > MOST_ACCESSES

    def _signature(self, parts: Sequence[Part]) -> object:
        """Equal for intervals in which the same happens."""
        found: list[object] = []
        shifts = Shifts(for_own=False)
        first_interval: Any = None
        # Which stores are of one value matters, and not which value that is.
        values: dict[object, int] | None = {}
        if any(type(part.event.value) is np.ndarray for part in parts):
            values = None
        for _, kind, event, mask, origin, codes in parts:
            known = self._masks.get(id(mask))
            if known is None:
                known = self._masks[id(mask)] = hashed(mask), mask
            interval = event.warp_interval
            if first_interval is None:
                first_interval = interval
            passed = hashed(interval - first_interval)
            value = hashed(event.value if event.operation == "store" else None)
            if values is not None and value is not None:
                value = values.setdefault((type(value), value), len(values))
            found += kind, known[0], hashed(event.offset), passed, value, hashed(codes)
            if origin is not None:
                found += id(origin.allocation), hashed(shifts.offsets_of(origin, True))
        return tuple(found)

    # --- within blocks -----------------------------------------------------------------------------

    def _in_block(self, parts: Sequence[Part]) -> bool:
        """The races of one interval; whether it was looked at: not if there is too much in blocks that differ.
        """
        is_global = self._allocation.space == "global"
        classes = classes_of_rows(parts, self._lanes, is_global, self._order.classes)
        rows = np.unique(classes, return_index=True)[1]
        if self._is_too_much(parts, rows):
            return False
        blocks = self._lanes.blocks
        worlds = {
            int(row): frozenset((np.flatnonzero(classes == classes[row]) // blocks).tolist()) for row in rows
        }
        self._covering = set()
        covers = self._open.any() and self._extent is not None
        made = None
        if self._known.any() or covers:
            made = entries_of(parts, self._lanes, rows, self._extent, None if covers else self._writes)
        if made is not None:
            entries, unit = made
            if covers and self._extent is not None:
                self._covering = covering(entries, self._extent // unit)
            if self._known.any():
                if self._own.any():
                    entries = entries.only(changed(entries, self._writes, self._own))
                entries = entries.only(contested(entries, entries.lane, self._writes))
                harmless = read_by_writers(entries, self._writes)
                has_harmless = harmless.any()
                self._between_lanes(entries.only(~harmless) if has_harmless else entries, worlds, self._known)
                if has_harmless:
                    self._between_lanes(entries, worlds, self._known, harmless)
        if self._open.any():
            places = anywhere(parts, self._lanes, rows)
            if places is not None:
                self._between_lanes(places, worlds, self._open)
        return True

    def _between_lanes(
        self, entries: Entries, worlds: dict[int, frozenset[int]], may_race: Flags, harmless: Flags | None = None
    ) -> None:
        """The races of threads of a block; with harmless entries, these races alone."""
        if not len(entries):
            return
        if harmless is not None:
            # They are kinds of their own, so that each of their pairs has one of them.
            kinds = len(self._kinds)
            entries = replaced(entries, kind=entries.kind + kinds * harmless)
            own = np.repeat([False, True], kinds)
            may_race = np.tile(may_race, (2, 2)) & (own[:, None] | own)
        warp = entries.lane // WARP_LANES
        self._note(entries, meetings(entries, entries.place, warp, may_race), "block", worlds)
        is_partial = self._order.needed[entries.row, warp]
        key = entries.place * self._lanes.warps + warp
        key = key * (int(entries.warp_interval.max()) + 1) + entries.warp_interval
        if is_partial.any():
            within = entries.only(is_partial)
            partial = self._unordered(within, key[is_partial], may_race)
            entries, key = entries.only(~is_partial), key[~is_partial]
        pairs = meetings(entries, key, entries.lane, may_race)
        self._note(entries, self._not_exchanged(entries, pairs, key), "warp", worlds)
        if is_partial.any():
            self._note(within, partial, "warp", worlds)

    def _not_exchanged(self, entries: Entries, pairs: Pairs, key: Integers) -> Pairs:
        """Without those between which lanes exchange something: where a load comes before a shuffle and a store after
        it, what was loaded goes into the shuffle, for which all lanes wait. A store before and a load after are in no
        order by the letter, but the compiler leaves those of `volatile` memory on their sides of the shuffle, and a
        warp's accesses to shared memory are made in turn."""
        if not len(pairs.first) or not self._exchanges.are_any:
            return pairs
        kinds = len(self._kinds)
        passed = self._exchanges.passed(entries)
        found: list[tuple[int, int, bool]] = []
        for first, second, is_benign in zip(*(each.tolist() for each in pairs), strict=True):
            if not self._is_exchanged(entries, passed, first, second, kinds):
                found.append((first, second, is_benign))
                continue
            # Others of the two kinds may be in no order.
            same = np.flatnonzero(key == key[first])
            ones, others = (same[entries.kind[same] == entries.kind[at]] for at in (first, second))
            others = [
                (one, other) for one in ones.tolist() for other in others.tolist()
                if entries.lane[one] != entries.lane[other]
                and not self._is_exchanged(entries, passed, one, other, kinds)
            ][:1]  # fmt: skip
            found += [(one, other, False) for one, other in others]
        columns = list(zip(*found, strict=True)) if found else [(), (), ()]
        return Pairs(
            np.array(columns[0], np.int64), np.array(columns[1], np.int64), np.array(columns[2], bool)
        )  # fmt: skip

    def _is_exchanged(self, entries: Entries, passed: Integers, one: int, other: int, kinds: int) -> bool:
        first, second = sorted((one, other), key=lambda at: int(entries.number[at]))
        if passed[first] >= passed[second]:
            return False
        earlier, later = (int(entries.kind[at]) % kinds for at in (first, second))
        if not self._writes[earlier] and self._writes[later]:
            return True
        return bool(self._is_volatile[earlier] and self._is_volatile[later])

    def _unordered(self, entries: Entries, key: Integers, may_race: Flags) -> Pairs:
        """The same as `meetings` for lanes of one warp each, parts of which have barriers of their own: of each pair
        of a kind and a lane only the last access before another matters, as what is ordered after it is ordered after
        those before it."""
        order = np.lexsort((entries.number, key))
        found: list[tuple[int, int]] = []
        current = None
        last: dict[tuple[int, int], int] = {}
        columns = (key, entries.row, entries.lane, entries.number, entries.kind)
        keys, rows, lanes, numbers, kinds = (column.tolist() for column in columns)
        for at in order.tolist():
            if keys[at] != current:
                current, last = keys[at], {}
            lane, kind = lanes[at], kinds[at]
            warp, own = divmod(lane, WARP_LANES)
            for (other_kind, other_lane), before in last.items():
                if other_lane != lane and may_race[other_kind, kind]:
                    ends = (numbers[before], other_lane % WARP_LANES), (numbers[at], own)
                    if not self._order.is_ordered(rows[at], warp, *ends):
                        found.append((before, at))
            last[kind, lane] = at
        first, second = (np.array([pair[i] for pair in found], np.int64) for i in range(2))
        return Pairs(first, second, same_values(entries, first, second))

    # --- between blocks ----------------------------------------------------------------------------

    def _across_blocks(self, parts: Sequence[Part]) -> None:
        self._covering = set()
        rows = np.arange(self._lanes.rows)
        blocks = self._lanes.blocks
        worlds = {row: frozenset((row // blocks,)) for row in range(self._lanes.rows)}
        if self._across.any():
            made = entries_of(parts, self._lanes, rows, self._extent, self._writes, blocks)
            if made is not None:
                entries, unit = made
                entries = replaced(entries, place=places_of(entries.row // blocks, entries.unit // unit))
                block = entries.row % blocks
                chosen = contested(entries, block, self._writes)
                entries, block = entries.only(chosen), block[chosen]
                self._note(entries, meetings(entries, entries.place, block, self._across), "grid", worlds)
        if self._open.any():
            places = anywhere(parts, self._lanes, rows)
            if places is not None:
                places = replaced(places, place=places.row // blocks)
                self._note(places, meetings(places, places.place, places.row % blocks, self._open), "grid", worlds)

    # --- what comes of them ------------------------------------------------------------------------

    def _note(self, entries: Entries, pairs: Pairs, reach: Reach, worlds: dict[int, frozenset[int]]) -> None:
        """One candidate for each two kinds, rows that do the same, and outcome."""
        if not len(pairs.first):
            return
        kinds = list(self._kinds)
        one, other = entries.kind[pairs.first], entries.kind[pairs.second]
        is_harmless = (one >= len(kinds)) | (other >= len(kinds))
        one, other = one % len(kinds), other % len(kinds)
        code = np.minimum(one, other) * len(kinds) + np.maximum(one, other)
        is_benign = pairs.is_benign | is_harmless
        code = (code * self._lanes.rows + entries.row[pairs.first]) * 2 + is_benign
        for at in np.unique(code, return_index=True)[1].tolist():
            first, second = int(pairs.first[at]), int(pairs.second[at])
            if entries.number[first] > entries.number[second]:
                first, second = second, first
            sites = frozenset(kinds[int(kind[at])].site for kind in (one, other))
            is_open = bool(self._open[one[at], other[at]])
            candidate = _Candidate(
                entries, first, second, reach, bool(is_benign[at]),
                is_open and not self._covering.isdisjoint((int(one[at]), int(other[at]))),
                worlds[int(entries.row[first])],
            )  # fmt: skip
            self._candidates.setdefault((is_open, reach == "grid", sites), []).append(candidate)

    def _race(self, candidates: Sequence[_Candidate], is_open: bool) -> Race:
        kinds = list(self._kinds)

        def is_conditional(candidate: _Candidate) -> bool:
            ends = candidate.first, candidate.second
            return any(kinds[int(candidate.entries.kind[end]) % len(kinds)].is_conditional for end in ends)

        certain = [candidate for candidate in candidates if not is_conditional(candidate)]
        chosen = certain or candidates
        # `volatile` says that the lanes of a warp are meant to work in turn: what the last ones find in the next warp's
        # elements is mostly of no use to anybody.
        is_of_warps = any(
            all(self._is_volatile[int(c.entries.kind[end]) % len(kinds)] for end in (c.first, c.second))
            for c in chosen
        )
        best = min(chosen, key=lambda each: (each.is_benign, (each.reach == "warp") is not is_of_warps))
        ends = [self._end(best.entries, at) for at in (best.first, best.second)]
        first, second = ends if best.reach != "grid" else sorted(ends, key=lambda end: (end.block[::-1], end.number))
        comes_first, comes_next = self._first[first.site], self._first[second.site]
        return Race(
            self._allocation,
            first,
            second,
            None if is_open else int(best.entries.unit[best.first]),
            best.reach,
            self._lanes.world_of(int(best.entries.row[best.first])),
            tuple(sorted(frozenset.union(*(each.worlds for each in chosen)))),
            all(candidate.is_benign for candidate in candidates),
            not certain,
            best.reach != "grid"
            and first.number != second.number
            and (comes_next < comes_first or first.site == second.site),
            any(candidate.is_covered for candidate in chosen),
        )

    def _end(self, entries: Entries, at: int) -> RaceEnd:
        lanes = self._lanes
        kinds = list(self._kinds)
        kind = kinds[int(entries.kind[at]) % len(kinds)]
        row, lane = int(entries.row[at]), int(entries.lane[at])
        number = int(entries.number[at])
        event = self._events[number, id(kind.site.node)]
        return RaceEnd(kind.site, lanes.thread_of(lane), lanes.block_of(row), number, event)
