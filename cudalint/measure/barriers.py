"""Whether all threads that a barrier waits for come to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec import Struct

from cudalint.execute.lanes import Extents, Lanes
from cudalint.execute.trace import BarrierEvent, Stack, Trace
from cudalint.execute.values import Data
from cudalint.facts import BarrierKind
from cudalint.facts.barriers import Parting
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir import walk
from cudalint.ir.builtins import builtin
from cudalint.measure.arrays import Mask
from cudalint.measure.disagreement import of_blocks, of_warps, parting_of
from cudalint.measure.filled import for_which_sizes
from cudalint.measure.launched import among, misses_in_short_rows, row_lengths
from cudalint.measure.seen import Seen
from cudalint.measure.ways import Guard
from cudalint.numerals import thread
from cudalint.worlds.records import Batch

_WAYS = {False: "does not come", True: "has returned"}


class BarrierSite(NamedTuple):
    """A place with the calls that lead to it."""

    node: Any
    stack: Stack
    kind: BarrierKind


class Arrival(Struct, frozen=True):
    """Who comes to a barrier under one launch."""

    verdict: Literal["uniform", "divergent", "unknown"]
    reason: str | None = None
    size: str | None = None
    """The condition under which threads stay away, where they don't in all worlds."""
    returned: bool = False
    tail: bool = False
    unnamed: bool = False
    leaving: bool = False
    missing: Extents | None = None
    by_data: bool = False
    parting: Parting | None = None
    source: str = ""


def sites_of(trace: Trace) -> dict[BarrierSite, list[BarrierEvent]]:
    """The barriers at which threads wait, but for those inside of a library's functions of the block."""
    found: dict[BarrierSite, list[BarrierEvent]] = {}
    for event in trace.barriers:
        is_librarys = event.is_implied and event.scope != "warp" and event.kind != "named"
        if event.part != "arrive" and not is_librarys:
            found.setdefault(BarrierSite(event.node, event.stack, event.kind), []).append(event)
    return found


class Arrivals:
    """At all barriers of an execution."""

    def __init__(self, seen: Seen, batch: Batch, free: Set[str] = frozenset()) -> None:
        """`free` are numbers that nothing gives, and of which the launch is not made."""
        self._seen, self._batch = seen, batch
        self._lengths = free & row_lengths(seen.function) if free else frozenset[str]()
        self.sites = sites_of(seen.trace)
        self._missed: dict[tuple[Any, Stack, BarrierKind], list[MissedBarrier]] = {}
        for missed in missed_barriers(seen.trace):
            self._missed.setdefault((missed.node, missed.stack, missed.kind), []).append(missed)

    def at(self, site: BarrierSite) -> Arrival:
        events = self.sites.get(site)
        if not events:
            return Arrival("unknown", "it is not reached")
        if site.kind == "grid":
            passing = self._passing_blocks(events)
            if passing is not None:
                return passing
        missed = [
            each for each in self._missed.get(tuple(site), ())
            if not each.is_conditional and not misses_in_short_rows(each.worlds, self._batch, self._lengths_at(site))
        ]  # fmt: skip
        if site.kind == "named":
            # Those who have returned touch nothing that is to be ordered; a tile may be gone as a whole.
            if all(each.absence == "returned" for each in missed):
                return Arrival("uniform")
            return Arrival("unknown", "which threads it waits for is not known")
        if missed and not (site.kind == "syncwarp" and all(each.absence == "returned" for each in missed)):
            return self._divergent(site, missed, events)
        if site.kind == "syncwarp" and not events[0].is_implied and any(_is_open(event) for event in events):
            return Arrival("unknown", "which lanes it waits for is not known")
        return self._by_data(site, events) or self._unnamed(events) or Arrival("uniform")

    def is_safe(self, site: BarrierSite) -> bool:
        """Whether all threads come, or of a barrier of the warp all lanes of a warp, or none."""
        if site.kind != "syncwarp":
            return self.at(site).verdict == "uniform"
        trace = self._seen.trace
        if self._by_data(site, self.sites[site]) is not None:
            return False
        for event in self.sites[site]:
            by_warp = trace.lanes.by_warp(event.mask)
            rest = trace.lanes.by_warp(trace.lanes.full & ~event.mask)
            if (by_warp.any(axis=2) & rest.any(axis=2)).any():
                return False
        return True

    def _lengths_at(self, site: BarrierSite) -> Set[str]:
        """The lengths of rows that the way to a barrier depends on."""
        if not self._lengths:
            return self._lengths
        guards = self._seen.ways.guards_of(site.node, site.stack)
        return among(self._lengths, {name for guard in guards for name in self._seen.origins_of(guard).numbers})

    def _divergent(
        self, site: BarrierSite, missed: Sequence[MissedBarrier], events: Sequence[BarrierEvent]
    ) -> Arrival:
        # Who is still there counts for more than who has left.
        worst = min(missed, key=lambda each: (each.absence == "returned", each.world))
        returned = worst.absence == "returned"
        stay = not any(each.absence == "elsewhere" for each in missed)
        leaving = not returned and site.kind != "syncwarp" and stay and self._leaves(worst, events)
        way = "goes on to the end of the kernel" if leaving else _WAYS[returned]
        reason = f"{thread(worst.waiting, worst.block)} waits, {thread(worst.absent)} {way}"
        size = self._size(worst, events)
        return Arrival(
            "divergent", f"{reason} {size}" if size else reason, size, returned,
            returned and worst.block != (0, 0, 0) and self._tells_ends(site), False, leaving, worst.absent,
        )  # fmt: skip

    def _size(self, missed: MissedBarrier, events: Sequence[BarrierEvent]) -> str | None:
        """The condition under which threads stay away; None where they do in all worlds in which some come."""
        lanes = self._seen.trace.lanes
        reached = _reached(lanes, events)
        by_world = reached.reshape(lanes.worlds, -1).any(axis=1)
        holds = [world in missed.worlds if by_world[world] else None for world in range(lanes.worlds)]
        return for_which_sizes(holds, missed.world, self._batch)

    def _tells_ends(self, site: BarrierSite) -> bool:
        """Whether a condition on the way is about the place of a thread in the grid, as that on the end of the data is.
        """
        guards = self._seen.ways.guards_of(site.node, site.stack)
        found = [self._seen.origins_of(guard) for guard in guards]
        return any(each.by_thread and each.by_block for each in found)

    def _leaves(self, missed: MissedBarrier, events: Sequence[BarrierEvent]) -> bool:
        """Whether threads that don't come are whole warps: those that come to no other barrier either leave the kernel,
        and no longer count. Lanes of a warp that others of it wait for hang the kernel."""
        lanes = self._seen.trace.lanes
        row = next(
            row for row in range(lanes.rows)
            if lanes.world_of(row) == missed.world and lanes.block_of(row) == missed.block
        )  # fmt: skip
        comes, stays = np.zeros((2, lanes.lanes), bool)
        for event in events:
            comes |= event.mask[row]
            if event.expected is not None and event.mask[row].any():
                stays |= event.expected[row] & ~event.mask[row]
        by_warp = [mask.reshape(-1, WARP_LANES).any(axis=1) for mask in (comes, stays)]
        return bool(stays.any()) and not (comes & stays).any() and not (by_warp[0] & by_warp[1]).any()

    def _by_data(self, site: BarrierSite, events: Sequence[BarrierEvent]) -> Arrival | None:
        """The loaded data that may keep threads away; what is the same for all threads that the barrier waits for does
        not."""
        arrival: Arrival | None = None
        for guard in self._seen.ways.guards_of(site.node, site.stack):
            found = self._seen.origins_of(guard)
            if not found.is_data or not self._seen.varies(found, site.kind == "grid"):
                continue
            parting = self._parting(guard, site)
            if arrival is None or (parting and not arrival.parting):
                source = self._seen.described(found)
                reason = f"it depends on data whether all threads come: {source}"
                arrival = Arrival("unknown", reason, by_data=True, parting=parting, source=source)
        return arrival

    def _parting(self, guard: Guard, site: BarrierSite) -> Parting | None:
        """How data keeps threads away by one condition."""
        events = self.sites[site]
        is_open = any(map(_is_open, events))
        if site.kind in ("grid", "named") or (is_open and not self._reads_by_distance(events[0], site)):
            return None
        depth = len(site.stack) - len(guard.stack)
        target = site.stack[depth - 1] if depth else site.node
        lanes, event = self._seen.trace.lanes, events[0]
        in_warps = site.kind == "syncwarp"
        groups = of_warps(lanes, event.expected, event.named) if in_warps else of_blocks(lanes, event.expected)
        return parting_of(guard, target, self._seen, groups)

    def _reads_by_distance(self, event: BarrierEvent, site: BarrierSite) -> bool:
        """Whether it is a shuffle among those lanes that happen to run together (`__activemask()`), from lanes that no
        data says: nothing promises that these are among them."""
        call = event.made_by
        if not isinstance(call, ir.Call) or builtin(call.name).effect != "masked-shuffle" or len(call.arguments) < 3:
            return False
        mask, source = walk.without_casts(call.arguments[0]), call.arguments[2]
        values = [mask]
        if isinstance(mask, ir.Name):
            values = [walk.without_casts(each) for each, _ in self._seen.origins.values_of(mask.symbol, site.stack)]
        is_active = bool(values) and all(isinstance(e, ir.Call) and e.name == "__activemask" for e in values)
        return is_active and not self._seen.origins.of(source, site.stack).is_data

    def _unnamed(self, events: Sequence[BarrierEvent]) -> Arrival | None:
        """A lane that comes to a warp function whose mask names lanes, but not this one."""
        lanes = self._seen.trace.lanes
        for event in events:
            named = event.named
            if event.scope != "warp" or type(named) is not int or event.data:
                continue
            bits = np.tile((named >> np.arange(WARP_LANES)) & 1 != 0, lanes.warps)
            come_named = lanes.by_warp(event.mask & bits).any(axis=2, keepdims=True)
            spread = np.broadcast_to(come_named, lanes.by_warp(event.mask).shape).reshape(event.mask.shape)
            unnamed = event.mask & ~bits & spread
            if unnamed.any():
                lane = int(np.argwhere(unnamed)[0][1])
                own, mask = thread(lanes.thread_of(lane)), named & 0xFFFFFFFF
                text = f"{own} comes as lane {lane % WARP_LANES}, and the mask is {mask:#x}"
                return Arrival("divergent", text, unnamed=True)
        return None

    def _passing_blocks(self, events: Sequence[BarrierEvent]) -> Arrival | None:
        """Blocks that pass by a barrier of the grid."""
        lanes = self._seen.trace.lanes
        comes = _reached(lanes, events)
        there: Any = lanes.full.any(axis=1)
        for world in range(lanes.worlds):
            rows = [row for row in range(lanes.rows) if lanes.world_of(row) == world and there[row]]
            missing = [row for row in rows if not comes[row]]
            if missing and len(missing) < len(rows) and not any(event.data for event in events):
                first = (0, 0, 0)
                text = f"{thread(first, lanes.block_of(missing[0]))} waits, {thread(first)} does not come"
                return Arrival("divergent", text, missing=(0, 0, 0))
        return None


def _reached(lanes: Lanes, events: Sequence[BarrierEvent]) -> Any:
    """[rows] whether any thread comes."""
    found = np.zeros(lanes.rows, bool)
    for event in events:
        found |= event.mask.any(axis=1)
    return found


def _is_open(event: BarrierEvent) -> bool:
    return isinstance(event.named, Data)


def all_come(arrivals: Arrivals, line: int, column: int, path: str) -> bool:
    """Whether the barriers that were put in at a place are such that all threads come to them."""
    found = [site for site in arrivals.sites if _stands_at(site.node, path, line, column)]
    return bool(found) and all(arrivals.is_safe(site) for site in found)


def _stands_at(node: Any, path: str, line: int, column: int) -> bool:
    span = node.span
    return bool(span[:3] == (path, line, column) and span[3:] == (line, column))


# --- barriers that threads miss ------------------------------------------------------------------------


_FIRST = (0, 0, 0)
Absence = Literal["returned", "elsewhere", "never"]
"""Why a thread does not come to a barrier: it has returned before; it comes to another one in its place; or it goes
past it to the end of the kernel. Those of parts of warps are never reported as elsewhere."""


class MissedBarrier(Struct, frozen=True, eq=False):
    """A barrier that some threads of a block, or of a warp, come to, and others don't."""

    node: Any
    stack: Stack
    kind: BarrierKind
    absence: Absence
    waiting: Extents
    """A thread that comes."""
    absent: Extents
    """One that doesn't."""
    block: Extents
    """That of both."""
    world: int
    worlds: tuple[int, ...]
    """In which some threads of a block come, and others are absent in this way."""
    is_conditional: bool
    """Data decides whether a thread comes; those that may come are taken to."""


def missed_barriers(trace: Trace) -> list[MissedBarrier]:
    """The barriers that not all threads come to, in the order of the trace: one of each kind of absence."""
    lanes = trace.lanes
    passed = {is_warp: _passed(trace, is_warp) for is_warp in (False, True)}
    found: dict[tuple[Any, Stack, Absence], list[MissedBarrier]] = {}
    complete: set[tuple[Any, Stack, int, int]] = set()
    for event in trace.barriers:
        lot = event.node, event.stack, id(event.mask), id(event.expected)
        if event.mask is lanes.full or lot in complete:
            continue
        absences = list(_absent(event, lanes, passed[event.kind == "syncwarp"]))
        if all(absence == "returned" for absence, _ in absences):
            # Whoever is missing when the same threads come again has returned, too.
            complete.add(lot)
        for absence, absent in absences:
            entries = found.setdefault((event.node, event.stack, absence), [])
            seen = {w for entry in entries for w in entry.worlds if entry.is_conditional == (event.data > 0)}
            rows = np.flatnonzero(absent.any(axis=1))
            worlds = sorted(set((rows // lanes.blocks).tolist()) - seen)
            if worlds:
                own = rows[np.isin(rows // lanes.blocks, worlds)].tolist()
                # Block 0 is there whatever the grid is; those who have returned may be behind the end of the data.
                row = own[0] if absence == "returned" else min(own, key=lambda row: lanes.block_of(row) != _FIRST)
                entries.append(_missed(lanes, event, absence, absent, row, tuple(worlds)))
    return [_joined(entries) for entries in found.values()]


def _passed(trace: Trace, is_warp: bool) -> Any:
    """How many barriers each lane passes in all."""
    total = np.zeros(trace.lanes.full.shape, np.int64)
    for event in trace.barriers:
        if (event.kind == "syncwarp") == is_warp:
            total += event.mask if event.partial is None else event.mask & ~event.partial
    return total


def _absent(event: BarrierEvent, lanes: Lanes, passed: Any) -> Iterator[tuple[Absence, Mask]]:
    """The lanes that a barrier misses, by why."""
    if event.expected is None:
        return
    is_warp = event.kind == "syncwarp"
    interval = event.warp_interval if is_warp else event.interval

    def in_groups(mask: Mask) -> Any:
        return lanes.by_warp(mask) if is_warp else mask.reshape(lanes.rows, 1, lanes.lanes)

    comes = in_groups(event.mask)
    is_reached = comes.any(axis=2, keepdims=True)
    group = _spread(is_reached, lanes)
    missing = event.expected & ~event.mask & group
    of_whole = group
    if event.partial is not None:
        of_whole = group & ~_spread(in_groups(event.partial).any(axis=2, keepdims=True), lanes)
    returned = lanes.full & ~event.expected & of_whole
    if returned.any():
        yield "returned", returned
    if not missing.any():
        return
    of_those_who_come = in_groups(np.where(event.mask, interval, -1)).max(axis=2, keepdims=True)
    elsewhere = missing & of_whole & (passed > _spread(of_those_who_come, lanes))
    absences: tuple[tuple[Absence, Mask], ...] = ("elsewhere", elsewhere), ("never", missing & ~elsewhere)
    for absence, absent in absences:
        if absent.any():
            yield absence, absent


def _spread(of_groups: Any, lanes: Lanes) -> Any:
    """What a block or a warp has, for each of its lanes."""
    return np.repeat(of_groups, lanes.lanes // of_groups.shape[1], axis=2).reshape(lanes.rows, lanes.lanes)


def _missed(
    lanes: Lanes, event: BarrierEvent, absence: Absence, absent: Mask, row: int, worlds: tuple[int, ...]
) -> MissedBarrier:
    lane = int(np.flatnonzero(absent[row])[0])
    comes = event.mask[row].copy()
    if event.kind == "syncwarp":
        first = lane - lane % WARP_LANES
        comes[:first] = comes[first + WARP_LANES :] = False
    waiting = int(np.flatnonzero(comes)[0])
    return MissedBarrier(
        event.node, event.stack, event.kind, absence, lanes.thread_of(waiting), lanes.thread_of(lane),
        lanes.block_of(row), lanes.world_of(row), worlds, event.data > 0,
    )  # fmt: skip


def _joined(entries: Sequence[MissedBarrier]) -> MissedBarrier:
    """One record of the same barrier in several worlds; a witness that comes for certain, if there is one."""
    best = min(
        entries, key=lambda each: (each.is_conditional, each.absence != "returned" and each.block != _FIRST)
    )
    like = [entry for entry in entries if entry.is_conditional == best.is_conditional]
    worlds = sorted({world for entry in like for world in entry.worlds})
    fields = {name: getattr(best, name) for name in best.__struct_fields__}
    return MissedBarrier(**fields | {"worlds": tuple(worlds)})
