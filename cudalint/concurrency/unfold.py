"""The trace of a block: the events of an execution, iteration by iteration, divided into barrier intervals.

Between two barriers of a scope all threads of that scope run in any order; an interval is what lies between.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence, Set
from copy import copy
from typing import Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from cudalint.concurrency.intervals import Clock, Intervals
from cudalint.concurrency.loop_tree import EventTree, Item, LoopItems, LoopRows, Run, event_count, moves_clock
from cudalint.evaluate.requests.situations import mask_of
from cudalint.hardware.requests import WARP_LANES
from cudalint.interpreter.device.events import AccessEvent, BarrierEvent, CopyEvent, Event, LibraryAccess, Loop, Nest
from cudalint.ir import nodes as ir
from cudalint.values.nodes import Node, bits_of
from cudalint.values.numeric import Rows

MAX_INSTANCES = 8_000
"""Events times situations that are walked through; a kernel that needs more is given up."""
_ITEM_WORK = 5
"""Microseconds that a step of the walk takes, as measured."""


class TooLarge(Exception):
    """The trace would take too many steps."""


class Unfolding:
    """The trace of some blocks under one launch."""

    def __init__(self, tree: EventTree, loops: LoopRows, volatile: Set[ir.Span] = frozenset()) -> None:
        """Raises `TooLarge`. The accesses at `volatile` are to what is declared so."""
        self.volatile = volatile
        self.graph = loops.base.graph
        self.base = loops.base
        self.threads = loops.base.threads
        self.block = self.threads.block
        self.events = tree.events
        self._loops = loops
        self._place = tree.places
        self._masks: dict[int, NDArray[np.bool_]] = {}
        self._comers: dict[int, tuple[list[bool], NDArray[np.bool_]]] = {}
        self._times: dict[int, Intervals] = {}
        self._runs: dict[int, tuple[int, int]] = {}
        """For an event of a run, the first one, which has the times of all, and how many steps later it comes."""
        self._steps = 0
        self._widths: dict[Nest, int] = {}
        """How many steps an iteration of a loop takes in which nothing else moves the clock."""
        self._base_row = 0
        self._passes: dict[int, list[tuple[int, int]]] = {}
        """When the block passes each barrier."""
        self._fewer: NDArray[np.int64] | None = None
        """[base rows, intervals] how many of the intervals up to one begin at a barrier that is pretended away."""
        if tree.is_quiet:
            self._stamp_all(tree.items, (), 0, self.base.count, self._clock())
            return
        for row in range(self.base.count):
            self._base_row = row
            self._walk(tree.items, (), row, self._clock())

    def _clock(self) -> Clock:
        return Clock(np.zeros(self.threads.warps, dtype=np.int64))

    def passes(self, barrier: BarrierEvent) -> Sequence[tuple[int, int]]:
        """When the block passes a barrier: the base row and the interval that begins there, in order."""
        return self._passes.get(self._place[id(barrier)], ())

    def without(self, barriers: Iterable[BarrierEvent]) -> Unfolding:
        """The same trace with some barriers of the block pretended away, for which all of it waits."""
        passed = [when for barrier in barriers for when in self.passes(barrier)]
        last = max((interval for passes in self._passes.values() for _, interval in passes), default=0)
        begins = np.zeros((self.base.count, last + 2), dtype=np.int64)
        if passed:
            begins[tuple(np.array(passed).T)] = 1
        left = copy(self)
        left._fewer = begins.cumsum(axis=1)
        return left

    def base_rows(self, nest: Nest) -> NDArray[np.int64]:
        """In which base row each row of a nest lies."""
        rows = np.arange(self.base.count)
        for depth in range(1, len(nest) + 1):
            rows = np.repeat(rows, np.diff(self._loops.unfolded[nest[:depth]].starts))
        return rows

    def place_of(self, event: Event) -> int:
        """Its position among the events."""
        return self._place[id(event)]

    # rows

    def is_reached(self, event: Event) -> bool:
        """Whether the loops around the event make an iteration."""
        return event.context.nest in self._loops.rows

    def rows_of(self, event: Event) -> Rows:
        """The situations that the event is looked at in; it has to be reached."""
        return self._loops.rows[event.context.nest]

    def follows(self, event: Event, node: Node) -> bool:
        """Whether a value can be evaluated where an event happens: it depends on no counter of another loop."""
        own = bits_of(loop.counter for loop in event.context.loops)
        return not node.bits & self.graph.loop_bits & ~own

    def iterations(self, event: Event) -> list[int]:
        """How many iterations the loops around an event make at most, outermost first."""
        nest = event.context.nest
        unfolded = (self._loops.unfolded.get(nest[: depth + 1]) for depth in range(len(nest)))
        return [max(loop.numbers, default=-1) + 1 if loop is not None else 0 for loop in unfolded]

    def is_whole(self, loop: Loop) -> bool:
        """Whether all iterations of a loop are looked at."""
        return loop not in self._loops.cut

    def is_walked(self, event: Event) -> bool:
        return self._timed(event)[0] in self._times

    def times(self, event: Event) -> Intervals:
        place, later = self._timed(event)
        times = self._times[place]
        if self._fewer is not None:
            base = self.base_rows(event.context.nest)[:, None]
            fewer = np.where(times.block < 0, 0, self._fewer[base, times.block])
            times = replace(
                times, block=times.block - fewer, warp=times.warp - fewer, soft=times.soft - fewer,
                until=times.until - fewer,
            )  # fmt: skip
        return replace(times, step=times.step + later) if later else times

    def written(self, event: Event) -> bytes:
        """In which blocks and iterations an event is looked at, and when it happens in them, for comparisons."""
        times, rows = self.times(event), self.rows_of(event)
        nest = event.context.nest
        numbers = [np.array(self._loops.unfolded[nest[:depth]].numbers) for depth in range(1, len(nest) + 1)]
        when = (times.block, times.warp, times.soft, times.grid, times.step)
        return b"".join(array.tobytes() for array in (rows.blocks, *numbers, *when))

    def _timed(self, event: Event) -> tuple[int, int]:
        place = self._place[id(event)]
        return self._runs.get(place, (place, 0))

    def mask(self, event: Event) -> NDArray[np.bool_]:
        """[rows, threads] the threads that get there; what depends on data is taken to let them through."""
        place = self._place[id(event)]
        found = self._masks.get(place)
        if found is None:
            opaque = self.graph.opaque_bits
            conditions = [c for c in event.context.conditions if not c.bits & opaque and self.follows(event, c)]
            self.graph.work += len(conditions)
            found = mask_of(self.rows_of(event), conditions)
            self._masks[place] = found
        return found

    # walking

    def _walk(self, items: Sequence[Item], nest: Nest, row: int, clock: Clock) -> None:
        for item in items:
            if isinstance(item, Run):
                self._step(len(item.events))
                clock.step += 1
                self._stamp_run(item, row, clock)
                clock.step += len(item.events) - 1
                continue
            self._step(1)
            clock.step += 1
            if isinstance(item, LoopItems):
                self._walk_loop(item, nest, row, clock)
            elif isinstance(item, BarrierEvent):
                self._pass(item, row, clock)
            elif isinstance(item, CopyEvent):
                self._copied(item, row, clock)
            elif isinstance(item, (AccessEvent, LibraryAccess)):
                self._stamp(item, row, clock)

    def _step(self, items: int) -> None:
        self._steps += items
        self.graph.work += items * _ITEM_WORK
        if self._steps > MAX_INSTANCES:
            raise TooLarge

    def _walk_loop(self, item: LoopItems, nest: Nest, row: int, clock: Clock) -> None:
        inner = (*nest, item.loop.counter.index)
        unfolded = self._loops.unfold(item, nest)
        rows = unfolded.rows_in(row)
        if item.is_quiet:
            self._stamp_all(item.items, inner, rows.start, rows.stop, clock)
            return
        previous = -1
        for child in rows:
            number = unfolded.numbers[child]
            if item.barriers and number != previous + 1:
                self._end_copies(clock)
                clock.skip(item.barriers)
            previous = number
            self._walk(item.items, inner, child, clock)

    def _stamp_all(self, items: Sequence[Item], nest: Nest, start: int, end: int, clock: Clock) -> None:
        """What happens in some rows of a nest, when nothing in it moves the clock but the steps, row after row."""
        if end <= start:
            return
        steps = self._steps_of_row(items, nest, start, end)
        self._stamp_rows(items, nest, start, clock.step + steps * np.arange(end - start), clock)
        clock.step += steps * (end - start)

    def _steps_of_row(self, items: Sequence[Item], nest: Nest, start: int, end: int) -> int:
        """How many steps one of some rows takes at most, with the loops in it."""
        self._step(event_count(items))
        steps = 0
        for item in items:
            steps += len(item.events) if isinstance(item, Run) else 1
            if isinstance(item, LoopItems):
                inner = (*nest, item.loop.counter.index)
                starts = self._loops.unfold(item, nest).starts[start : end + 1]
                if starts[-1] > starts[0]:
                    self._widths[inner] = self._steps_of_row(item.items, inner, starts[0], starts[-1])
                    steps += self._widths[inner] * max(b - a for a, b in itertools.pairwise(starts))
        return steps

    def _stamp_rows(
        self, items: Sequence[Item], nest: Nest, start: int, steps: NDArray[np.int64], clock: Clock
    ) -> None:
        """Gives the events of rows from `start` on their times: before each, so many `steps` were made."""
        end = start + len(steps)
        for item in items:
            if isinstance(item, Run):
                self._stamp_run(item, slice(start, end), clock).step[start:end] = steps + 1
                steps = steps + len(item.events)
                continue
            steps = steps + 1
            if isinstance(item, LoopItems):
                inner = (*nest, item.loop.counter.index)
                starts = np.array(self._loops.unfolded[inner].starts[start : end + 1])
                counts = np.diff(starts)
                if counts.any():
                    number = np.arange(starts[0], starts[-1]) - np.repeat(starts[:-1], counts)
                    width = self._widths[inner]
                    before = np.repeat(steps, counts) + number * width
                    self._stamp_rows(item.items, inner, int(starts[0]), before, clock)
                    steps = steps + width * int(counts.max())

    def _stamp_run(self, run: Run, row: int | slice, clock: Clock) -> Intervals:
        """Gives all events of a run their times, which differ only by the steps in between."""
        place = self._place[id(run.events[0])]
        if place not in self._times:
            for later, event in enumerate(run.events):
                self._runs[self._place[id(event)]] = (place, later)
        return self._stamp(run.events[0], row, clock)

    def _stamp(self, event: Event, row: int | slice, clock: Clock) -> Intervals:
        place = self._place[id(event)]
        times = self._times.get(place)
        if times is None:
            shape = (self.rows_of(event).count, self.threads.warps)
            never = np.full(shape, -1, dtype=np.int64)
            more = [never.copy() for _ in range(4)]
            times = Intervals(never, more[0], more[1], more[2], more[3], never[:, 0].copy())
            self._times[place] = times
        times.block[row], times.warp[row], times.grid[row] = clock.block, clock.warp, clock.grid
        times.step[row] = clock.step
        times.soft[row] = clock.warp + clock.shuffles
        times.until[row] = clock.block + (1 if clock.arrived else 0)
        if isinstance(event, (AccessEvent, LibraryAccess)) and isinstance(row, int) and moves_clock(event):
            times.until[row] = 1 << 40
            clock.open.append((place, row))
        elif clock.arrived:
            clock.between.append((times, row))
        return times

    def _pass(self, event: BarrierEvent, row: int, clock: Clock) -> None:
        """A barrier that any thread comes to moves the clock; one that depends on data is taken to be passed."""
        if event.implied and event.scope == "warp":
            # Shuffles and votes make the warp converge, but "do not imply a memory barrier" (CUDA C++ Programming
            # Guide, Warp Shuffle Functions), and the compiler moves stores across them.
            clock.shuffles += 1
            return
        if event.part == "arrive":
            clock.arrived = True
            return
        rows, warps = self._coming(event)
        if not rows[row]:
            return
        clock.warp += warps[row] if event.scope == "warp" else 1
        if event.scope != "warp":
            if event.part == "whole" and event.kind != "named":
                # Another barrier, for which all threads of the block wait: it orders what the arrival doesn't.
                for times, at in clock.between:
                    times.until[at] = clock.block
            clock.between.clear()
            clock.block += 1
            self._passes.setdefault(self._place[id(event)], []).append((self._base_row, clock.block))
            clock.arrived = False
        if event.scope == "grid":
            clock.grid += 1

    def _coming(self, event: BarrierEvent) -> tuple[list[bool], NDArray[np.bool_]]:
        """In which rows any thread comes to a barrier, and [rows, warps] which warps do."""
        place = self._place[id(event)]
        found = self._comers.get(place)
        if found is None:
            lanes = self.mask(event).reshape(-1, self.threads.warps, WARP_LANES)
            warps = np.logical_or.reduce(lanes, axis=2)
            found = self._comers[place] = np.logical_or.reduce(warps, axis=1).tolist(), warps
        return found

    def _end_copies(self, clock: Clock) -> None:
        """Copies that are under way when iterations are passed over end in these."""
        for place, at in itertools.chain(clock.open, *clock.groups):
            self._times[place].until[at] = clock.block

    def _copied(self, event: CopyEvent, row: int, clock: Clock) -> None:
        if event.leaves is None:
            clock.groups.append(clock.open)
            clock.open = []
            return
        if event.leaves == 0:
            clock.groups.append(clock.open)
            clock.open = []
        done = clock.groups[: max(0, len(clock.groups) - event.leaves)]
        del clock.groups[: len(done)]
        for place, at in itertools.chain.from_iterable(done):
            self._times[place].until[at] = clock.block


def flat(values: Any, rows: Rows) -> NDArray[Any]:
    """[rows, threads], spread out."""
    return np.broadcast_to(values, (rows.count, rows.threads.warps * WARP_LANES))
