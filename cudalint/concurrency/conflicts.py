"""Conflicts: pairs of accesses by different threads to the same bytes, of which one writes, with nothing in between
that orders them.

Three kinds of order count. Threads of different warps are ordered by barriers of the block, threads of one warp also by
barriers of the warp, blocks only by barriers of the grid. Two plain loads never conflict, nor do two atomics.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from cudalint.concurrency.lanes import Column, Table, effect
from cudalint.hardware.requests import WARP_LANES
from cudalint.interpreter.device.events import LibraryAccess, Touch

Reach = Literal["warp", "block", "grid"]
"""What the two threads share: the warp, the block, or only the grid."""
_PAIR_WORK = 120
_KEY_WORK = 10
_ENTRIES_PER_WORK = 8
"""Microseconds for a pair of accesses and for a place that both touch, and entries of a table that a microsecond is
enough for, as measured."""
_MOST_PER_SITE = 3
"""Conflicts between two places in the source that are looked at: unrolled loops have many alike."""
_MOST_PARTNERS = 32
"""Accesses before one in the program that it is compared with, the nearest ones: code with more of them in one barrier
interval lacks the same barriers for all."""
_MOST_KEYS = 16
"""Pieces of memory on which one pair of accesses is looked at in detail."""
_WORD = 64
"""Bits of a word that is a set of events."""
_SPREADING = np.uint64(0x9E3779B97F4A7C15)
"""An odd number that spreads neighbours over all of 64 bits."""


class Thread(Struct, frozen=True):
    thread: tuple[int, int, int]
    block: tuple[int, int, int]


class Conflict(Struct, frozen=True, eq=False):
    """Two accesses, in the order of the program, with a witness."""

    first: Touch
    second: Touch
    sites: frozenset[object]
    """What the two share with other executions of the same code: `site_pair`."""
    one: Thread
    other: Thread
    reach: Reach
    address: int
    """Bytes from the start of the array."""
    across: bool
    """The second access belongs to a later iteration."""


class _Runs(Struct, frozen=True, eq=False):
    """The entries that share a piece of memory, an interval and an event, as one row each, ordered by `key`."""

    key: Column
    """Tells memory and interval apart."""
    event: Column
    first: Column
    """The entry with the smallest actor."""
    last: Column
    """That with the largest."""
    low: Column
    high: Column
    """The smallest and the largest actor."""
    sorted_keys: Column
    """[entries] the keys of all entries of the table, ascending."""
    order: Column
    agreed: dict[int, bool] = field(default_factory=dict)
    """For keys that were looked at, whether all stores under them store one value."""
    """[entries] the entries that they belong to."""

    def entries(self, key: int) -> Column:
        """All entries under a key."""
        start, end = np.searchsorted(self.sorted_keys, [key, key + 1])
        return self.order[start:end]


class Contest(Struct, eq=False):
    """What several actors touch in one table, sorted once, however often it is asked which conflicts there are."""

    table: Table
    _sorted: dict[Reach, tuple[_Runs, Mapping[int, Column], Mapping[int, int]] | None] = field(default_factory=dict)
    """By reach, the runs that clash, which of them belong to each event, and which events it meets (`_meetings`)."""
    _places: dict[object, int] = field(default_factory=dict)
    """A number for each place in the source: to compare the places takes long."""
    _site: list[int] = field(default_factory=list)
    """The number of the place of each access."""

    def __post_init__(self) -> None:
        self._site = [self._places.setdefault(_site(touch), number) for number, touch in enumerate(self.table.touches)]

    def is_any_between(self, sites: frozenset[object], reaches: Sequence[Reach]) -> bool:
        """Whether there are conflicts of one `site_pair`."""
        found = (self.conflicts(reach, sites=sites) for reach in reaches)
        return next(itertools.chain.from_iterable(found), None) is not None

    def conflicts(
        self,
        reach: Reach,
        ignores_values: bool = False,
        of_any_order: bool = False,
        sites: frozenset[object] | None = None,
    ) -> Iterator[Conflict]:
        """At most one conflict for each pair of accesses. Stores of one and the same value are none, unless
        `ignores_values`; nor are two atomics, unless `of_any_order`. With `sites`, only those of one `site_pair`."""
        found = self._clashing(reach)
        if found is None:
            return
        table, (runs, by_event, meetings) = self.table, found
        site = self._site
        wanted = None if sites is None else {self._places.get(place) for place in sites}
        present = [number for number in by_event if wanted is None or site[number] in wanted]
        seen: Counter[tuple[int, int]] = Counter()
        for a, b in self._pairs(present, meetings, reach, of_any_order):
            pair = min(site[a], site[b]), max(site[a], site[b])
            if sites is not None and len({*pair}) < len(sites):
                continue
            if seen[pair] < _MOST_PER_SITE:
                table.unfolding.graph.work += _PAIR_WORK
                conflict = _pair(table, runs, by_event[a], by_event[b], reach, ignores_values)
                if conflict is not None:
                    seen[pair] += 1
                    yield conflict

    def _pairs(
        self, present: Sequence[int], meetings: Mapping[int, int], reach: Reach, of_any_order: bool
    ) -> Iterator[tuple[int, int]]:
        """The pairs of accesses to compare, each the one first that comes first in the program, in its order."""
        touches, site = self.table.touches, self._site
        behind, those = dict.fromkeys(present, 0), _set_of(present)
        are_few = len(present) <= _MOST_PARTNERS
        for b in present:
            chosen: Counter[int] = Counter()
            left = meetings[b] & those & ((2 << b) - 1)
            while left and chosen.total() < _MOST_PARTNERS:
                a = left.bit_length() - 1
                left ^= 1 << a
                is_new = are_few or chosen[site[a]] < _MOST_PER_SITE
                if is_new and clash(touches[a], touches[b], reach, of_any_order):
                    chosen[site[a]] += 1
                    behind[a] |= 1 << b
        for a, those in behind.items():
            yield from ((a, b) for b in _members(those))

    def _clashing(self, reach: Reach) -> tuple[_Runs, Mapping[int, Column], Mapping[int, int]] | None:
        if reach not in self._sorted:
            self.table.unfolding.graph.work += len(self.table) // _ENTRIES_PER_WORK
            found = _runs(self.table, reach)
            runs = None if found is None else _clashing(found, self.table)
            if runs is None:
                self._sorted[reach] = None
            else:
                by_event = _by_event(runs)
                self._sorted[reach] = runs, by_event, _meetings(runs, by_event, self.table)
        return self._sorted[reach]


def site_pair(a: Touch, b: Touch) -> frozenset[object]:
    """What two accesses share with other executions of the same code, by unrolling."""
    return frozenset((_site(a), _site(b)))


def _site(touch: Touch) -> tuple[object, ...]:
    return touch.context.span, touch.context.frames, effect(touch)


def _by_event(runs: _Runs) -> dict[int, Column]:
    """The places of the runs of each event that has some."""
    order = np.argsort(runs.event, kind="stable")
    events, starts = np.unique(runs.event[order], return_index=True)
    return dict(zip(events.tolist(), np.split(order, starts[1:]), strict=True))


def _meetings(runs: _Runs, by_event: Mapping[int, Column], table: Table) -> dict[int, int]:
    """For each event that has runs, the events by which other actors touch the same memory in the same interval, one of
    the two writing: a set of their numbers, with a bit for each."""
    numbers = list(by_event)
    position = np.zeros(numbers[-1] + 1, dtype=np.int64)
    position[numbers] = np.arange(len(numbers))
    place = position[runs.event]
    keys = np.flatnonzero(np.concatenate(([True], runs.key[1:] != runs.key[:-1])))
    of_key = np.cumsum(np.concatenate(([0], runs.key[1:] != runs.key[:-1])))
    # Of one actor alone are those that it has to itself.
    alone = np.where(runs.low == runs.high, runs.low, -1)
    order = np.lexsort((alone, of_key))
    is_next = (of_key[order][1:] != of_key[order][:-1]) | (alone[order][1:] != alone[order][:-1])
    groups = np.flatnonzero(np.concatenate(([True], is_next)))
    of_group = np.empty(len(order), dtype=np.int64)
    of_group[order] = np.cumsum(np.concatenate(([0], is_next)))
    by_place = np.argsort(place, kind="stable")
    starts = np.searchsorted(place[by_place], np.arange(len(numbers)))
    reads = table.are_loads[runs.event]
    found = dict.fromkeys(numbers, 0)
    for first in range(0, len(numbers), _WORD):
        bits = np.where(place // _WORD == first // _WORD, np.uint64(1) << (place % _WORD).astype(np.uint64), 0)
        written = np.where(reads, np.uint64(0), bits)
        own = np.where(alone >= 0, np.bitwise_or.reduceat(bits[order], groups)[of_group], np.uint64(0))
        every = np.where(reads, *(np.bitwise_or.reduceat(each, keys)[of_key] for each in (written, bits)))
        met = np.bitwise_or.reduceat((every & ~own)[by_place], starts)
        for number, word in zip(numbers, met.tolist(), strict=True):
            found[number] |= _set_of(numbers[first + bit] for bit in _members(word))
    return found


def _set_of(numbers: Iterable[int]) -> int:
    """Small numbers as a set, with a bit for each."""
    found = 0
    for number in numbers:
        found |= 1 << number
    return found


def _members(numbers: int) -> Iterator[int]:
    """The numbers in such a set, ascending."""
    while numbers:
        lowest = numbers & -numbers
        yield lowest.bit_length() - 1
        numbers ^= lowest


def clash(a: Touch, b: Touch, reach: Reach = "grid", of_any_order: bool = False) -> bool:
    """Whether the two, the first of which comes first in the program, are a write and something that must not happen
    at the same time, in threads of one warp, one block, or of different blocks; with `of_any_order`, whether one of
    them changes what the other finds."""
    if reach != "grid" and _is_one_call(a, b):
        return False
    effects = {effect(a), effect(b)}
    if effects == {"load"} or of_any_order:
        return effects != {"load"}
    if effects == {"atomic"}:
        # `atomicAdd_block` is one for the threads of its own block only.
        return reach == "grid" and "block" in (a.atomic_scope, b.atomic_scope)
    if effects == {"atomic", "load"}:
        # What goes into a compare-and-swap is read before, and checked by it, as is what `atomicMax` may not improve.
        return a.offset is not b.offset or effect(a) == "atomic"
    return True


def _is_one_call(a: Touch, b: Touch) -> bool:
    """Whether the two belong to one call that the threads of a block make together."""
    together = [isinstance(touch, LibraryAccess) and touch.cooperative for touch in (a, b)]
    return all(together) and (a.context.span, a.context.frames) == (b.context.span, b.context.frames)


def _runs(table: Table, reach: Reach) -> _Runs | None:
    """The runs of the memory that several actors may touch in one interval; None where there is none."""
    warp = table.thread // WARP_LANES
    if reach == "grid":
        where, actor = [table.grid_interval], table.block
    elif reach == "block":
        where, actor = [table.block, table.interval], warp
    else:
        where, actor = [table.block, warp, table.warp_interval], table.thread
    key = _packed([*where, table.address])
    contested = _contested(key, actor, ~table.are_loads[table.event])
    if not len(contested):
        return None
    key, event, actor = key[contested], table.event[contested], actor[contested]
    order = _order(_packed([key, event, actor]))
    key, event, actor, order = key[order], event[order], actor[order], contested[order]
    starts = np.flatnonzero(np.concatenate(([True], (key[1:] != key[:-1]) | (event[1:] != event[:-1]))))
    ends = np.concatenate((starts[1:], [len(order)])) - 1
    return _Runs(key[starts], event[starts], order[starts], order[ends], actor[starts], actor[ends], key, order)


def _contested(key: Column, actor: Column, writes: NDArray[np.bool_]) -> Column:
    """The entries that share their key with those of other actors, one of them writing: as good as all of these and few
    others, since keys are told apart by some of their bits only. To look is several times as fast as to sort, and in
    most arrays each thread has its own elements."""
    bits = (4 * len(key)).bit_length()
    slot = key
    if int(key.max()) >= 1 << bits:
        slot = (key.view(np.uint64) * _SPREADING >> np.uint64(64 - bits)).view(np.int64)
    one = np.empty(1 << bits, dtype=np.int64)
    one[slot] = actor
    is_shared, is_written = np.zeros(1 << bits, dtype=bool), np.zeros(1 << bits, dtype=bool)
    is_shared[slot[one[slot] != actor]] = True
    is_written[slot[writes]] = True
    return np.flatnonzero((is_shared & is_written)[slot])


def _order(numbers: Column) -> Column:
    """The places of numbers from 0 on in ascending order, equal ones as they stand. To sort the numbers with their
    places in them is several times as fast as to sort the places, and takes no stable method."""
    bits = len(numbers).bit_length()
    if int(numbers.max()) >= 1 << (62 - bits):
        return np.argsort(numbers, kind="stable")
    return np.sort(numbers << bits | np.arange(len(numbers))) & ((1 << bits) - 1)


def _packed(columns: Sequence[Column]) -> Column:
    """[entries] one number for the numbers of several columns, that orders entries as they do."""
    packed = np.zeros(len(columns[0]), dtype=np.int64)
    size = 1
    for column in columns:
        low = int(column.min())
        extent = int(column.max()) - low + 1
        if size * extent >= 1 << 62:
            column, low = np.unique(column, return_inverse=True)[1].astype(np.int64), 0
            packed = np.unique(packed, return_inverse=True)[1].astype(np.int64)
            extent = int(column.max()) + 1
            size = int(packed.max()) + 1
        packed = packed * extent + (column - low)
        size *= extent
    return packed


def _clashing(runs: _Runs, table: Table) -> _Runs | None:
    """Only the runs on memory that several actors touch in one interval, one of them writing."""
    starts = np.flatnonzero(np.concatenate(([True], runs.key[1:] != runs.key[:-1])))
    writes = ~table.are_loads[runs.event]
    several = np.minimum.reduceat(runs.low, starts) != np.maximum.reduceat(runs.high, starts)
    kept = np.repeat(
        several & np.logical_or.reduceat(writes, starts), np.diff(np.concatenate((starts, [len(runs.key)])))
    )
    if not kept.any():
        return None
    columns = (runs.key, runs.event, runs.first, runs.last, runs.low, runs.high)
    key, event, first, last, low, high = (column[kept] for column in columns)
    return _Runs(key, event, first, last, low, high, runs.sorted_keys, runs.order)


def _pair(
    table: Table, runs: _Runs, a: Column, b: Column, reach: Reach, ignores_values: bool
) -> Conflict | None:
    """A conflict between two events (or of one with itself), given their runs."""
    one, other = _sharing(runs, a, b)
    low, high = runs.low, runs.high
    crossed = low[one] != high[other]
    apart = crossed | (high[one] != low[other])
    one, other, crossed = one[apart], other[apart], crossed[apart]
    if not len(one):
        return None
    firsts = np.where(crossed, runs.first[one], runs.last[one])
    seconds = np.where(crossed, runs.last[other], runs.first[other])
    keys = runs.key[one]
    if reach == "warp":
        unordered = ~_shuffled(table, firsts, seconds)
        keys, firsts, seconds = keys[unordered], firsts[unordered], seconds[unordered]
        if not len(firsts):
            return None
    order = np.argsort(_are_across(table, firsts, seconds), kind="stable")
    keys, firsts, seconds = keys[order], firsts[order], seconds[order]
    chosen = 0 if ignores_values else _first_harmful(table, runs, keys, firsts, seconds)
    return None if chosen is None else _witness(table, int(firsts[chosen]), int(seconds[chosen]), reach)


def _are_across(table: Table, firsts: Column, seconds: Column) -> NDArray[np.bool_]:
    """[pairs] whether the later access belongs to a later iteration: such a witness takes more words than another."""
    in_order = table.step[firsts] <= table.step[seconds]
    earlier, later = np.where(in_order, firsts, seconds), np.where(in_order, seconds, firsts)
    return np.asarray((table.event[later] <= table.event[earlier]) & table.are_in_loops[table.event[earlier]])


def _sharing(runs: _Runs, a: Column, b: Column) -> tuple[Column, Column]:
    """The runs of two events that have the same key, in pairs. Those of one event are in the order of their keys, each
    of which it has once."""
    if a is b:
        return a, b
    mine, others = runs.key[a], runs.key[b]
    if mine[0] > others[-1] or mine[-1] < others[0]:
        return a[:0], b[:0]
    place = np.searchsorted(others, mine)
    place[place == len(others)] = 0
    same = others[place] == mine
    return a[same], b[place[same]]


def _shuffled(table: Table, firsts: Column, seconds: Column) -> NDArray[np.bool_]:
    """[pairs] whether a load comes before a shuffle and the store after it. What was loaded goes into the shuffle, for
    which all lanes wait; a store before and a load after are in no order by the letter, but the compiler leaves those
    of `volatile` memory on their sides of the shuffle, and a warp's accesses to shared memory are made in turn."""
    is_load = table.are_loads
    earlier = np.where(table.step[firsts] <= table.step[seconds], firsts, seconds)
    later = np.where(earlier == firsts, seconds, firsts)
    between = table.soft_interval[earlier] < table.soft_interval[later]
    loads_first: NDArray[np.bool_] = is_load[table.event[earlier]] & ~is_load[table.event[later]]
    stay = table.are_volatile[table.event[earlier]] & table.are_volatile[table.event[later]]
    return (loads_first | stay) & between


def _first_harmful(
    table: Table, runs: _Runs, keys: Column, firsts: Column, seconds: Column
) -> int | None:
    """The first of some pairs that changes what the program computes. Where all threads store one value, their order
    does not matter, and a thread that stored it reads nothing else."""
    first = table.touches[int(table.event[firsts[0]])]
    second = table.touches[int(table.event[seconds[0]])]
    effects = {effect(first), effect(second)}
    if effects == {"store"}:
        same: NDArray[np.bool_] = table.values[firsts] == table.values[seconds]
        if first is second and same.any():
            # Between the two actors that were compared there may be others.
            same &= _agree(table, runs, keys, firsts)
        return None if same.all() else int(np.argmin(same))
    if effects != {"load", "store"}:
        return 0
    load = second if effect(second) == "load" else first
    looked_at = keys[:_MOST_KEYS].tolist()
    table.unfolding.graph.work += len(looked_at) * _KEY_WORK
    for position, key in enumerate(looked_at):
        if not (_is_agreed(table, runs, key) and _already_stored(table, runs, key, load)):
            return position
    return None


def _agree(table: Table, runs: _Runs, keys: Column, firsts: Column) -> NDArray[np.bool_]:
    """[pairs] whether all threads that an event lets store under a key store one value."""
    first, end = (np.searchsorted(runs.sorted_keys, keys, side=side) for side in ("left", "right"))
    counts = end - first
    under = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))
    under = under[table.event[runs.order[under]] == table.event[firsts[0]]]
    key, values = runs.sorted_keys[under], table.values[runs.order[under]]
    starts = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
    agree = np.minimum.reduceat(values, starts) == np.maximum.reduceat(values, starts)
    return np.asarray(agree[np.searchsorted(key[starts], keys)], dtype=bool)


def _is_agreed(table: Table, runs: _Runs, key: int) -> bool:
    """Whether all stores to this memory in this interval store one value."""
    found = runs.agreed.get(key)
    if found is None:
        near = runs.entries(key)
        values = table.values[near[~table.are_loads[table.event[near]]]]
        found = runs.agreed[key] = bool(len(values)) and bool(values.min() == values.max())
    return found


def _already_stored(table: Table, runs: _Runs, key: int, load: Touch) -> bool:
    """Whether every thread that loads this memory in this interval stored something there before."""
    near = runs.entries(key)
    stores = near[~table.are_loads[table.event[near]]]
    number = table.touches.index(load)
    loads = near[table.event[near] == number]
    order = np.lexsort((table.step[stores], _identity(table, stores)))
    threads, steps = _identity(table, stores)[order], table.step[stores][order]
    firsts = np.flatnonzero(np.concatenate(([True], threads[1:] != threads[:-1])))
    threads, steps = threads[firsts], steps[firsts]
    loading = _identity(table, loads)
    place = np.minimum(np.searchsorted(threads, loading), len(threads) - 1)
    return bool(((threads[place] == loading) & (steps[place] < table.step[loads])).all())


def _identity(table: Table, entries: Column) -> Column:
    """A number for each thread of the grid."""
    return table.block[entries] << 10 | table.thread[entries]


def _witness(table: Table, first: int, second: int, reach: Reach) -> Conflict:
    if table.step[second] < table.step[first]:
        first, second = second, first
    one, other = table.touches[int(table.event[first])], table.touches[int(table.event[second])]
    address = int(table.address[first]) * table.unit
    across = bool(_are_across(table, np.array([first]), np.array([second]))[0])
    sites = site_pair(one, other)
    return Conflict(one, other, sites, _thread(table, first), _thread(table, second), reach, address, across)


def _thread(table: Table, entry: int) -> Thread:
    threads = table.unfolding.threads
    x, y, z = (int(axis[0, table.thread[entry]]) for axis in threads.indices)
    block = int(table.block[entry])
    low = (1 << 21) - 1
    return Thread((x, y, z), (block & low, block >> 21 & low, block >> 42))


def all_conflicts(contest: Contest, reaches: Sequence[Reach]) -> list[Conflict]:
    """The conflicts of several kinds; of a pair of accesses only the first that is found. Of a pair that is `volatile`,
    which says that the lanes of a warp are meant to work in turn, that within warps is the one to tell: what the last
    lanes find in the next warp's elements is mostly of no use to anybody."""
    table, found = contest.table, dict[tuple[int, int], Conflict]()
    volatile = {id(touch) for touch, is_so in zip(table.touches, table.are_volatile.tolist(), strict=True) if is_so}
    for reach in reaches:
        for conflict in contest.conflicts(reach):
            pair = id(conflict.first), id(conflict.second)
            known = found.setdefault(pair, conflict)
            if reach == "warp" and known.reach == "block" and volatile.issuperset(pair):
                found[pair] = conflict
    return list(found.values())
