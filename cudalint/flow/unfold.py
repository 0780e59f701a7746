"""The trace of a block: the events of an execution, iteration by iteration, divided into barrier intervals.

Loops that the executor summarised are unfolded for a few iterations: the first ones, so that an iteration meets the
next one across the back edge, and the last one, which meets what follows the loop. Between two barriers of a scope all
threads of that scope run in any order; an interval is what lies between.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace
from numpy.typing import NDArray

from cudalint.evaluate.execute.events import AccessEvent, BarrierEvent, CopyEvent, Event, LibraryAccess, Loop
from cudalint.evaluate.requests.situations import mask_of
from cudalint.evaluate.symbolic.graph import Graph
from cudalint.evaluate.symbolic.memory_data import Data
from cudalint.evaluate.symbolic.nodes import Node
from cudalint.evaluate.symbolic.numeric import Rows
from cudalint.evaluate.symbolic.threads import Threads
from cudalint.hardware.requests import WARP_LANES

MAX_INSTANCES = 8_000
"""Events times situations that are walked through; a kernel that needs more is given up."""
_ITEM_WORK = 5
"""Microseconds that a step of the walk takes, as measured."""
_MOST_ROWS = 96
_ITERATIONS = {1: 12, 2: 6, 3: 4}
"""Iterations that are looked at, by how deep the loops are nested."""
_FEWEST = 3
"""The first iteration, the one that follows it, and the last."""
_BRIEF = 4
"""Iterations of a loop that goes round a few times only: each of two halves of a buffer is filled twice."""

Touch = AccessEvent | LibraryAccess


class TooLarge(Exception):
    """The trace would take too many steps."""


class LoopItems(Struct, eq=False):
    """A loop with what happens in it, in the order of the program."""

    loop: Loop
    items: list[Item] = field(default_factory=list)
    barriers: frozenset[str] = frozenset()
    """The scopes of the barriers in it."""
    is_quiet: bool = False
    """Nothing in it orders threads, or copies asynchronously: all of it lies in one interval."""
    depth: int = 1
    """How deep loops are nested in it, itself included."""


class Run(Struct, frozen=True, eq=False):
    """Events that follow one another in one barrier interval: unrolled code has hundreds of them."""

    events: list[Event] = field(default_factory=list)


Item = Event | LoopItems | Run


def group(events: Sequence[Event], depth: int = 0) -> list[Item]:
    """The events as a tree of loops: those of one execution of a loop stand next to each other."""
    items: list[Item] = []
    position = 0
    while position < len(events):
        event = events[position]
        if len(event.context.loops) <= depth:
            _append(items, event)
            position += 1
            continue
        loop = event.context.loops[depth]
        end = position
        while end < len(events) and _is_in(events[end], loop, depth):
            end += 1
        inside = events[position:end]
        barriers = frozenset(e.scope for e in inside if isinstance(e, BarrierEvent))
        deepest = max(len(e.context.loops) for e in inside)
        items.append(LoopItems(loop, group(inside, depth + 1), barriers, _is_quiet(inside), deepest - depth))
        position = end
    return items


def _append(items: list[Item], event: Event) -> None:
    if _moves_clock(event):
        items.append(event)
        return
    if not items or not isinstance(items[-1], Run):
        items.append(Run())
    run = items[-1]
    assert isinstance(run, Run)
    run.events.append(event)


def _is_quiet(events: Sequence[Event]) -> bool:
    return not any(_moves_clock(event) for event in events)


def _moves_clock(event: Event) -> bool:
    """Whether it orders threads, or goes on after the threads have passed it."""
    if isinstance(event, (AccessEvent, LibraryAccess)):
        return event.operation == "async-copy"
    return isinstance(event, (BarrierEvent, CopyEvent))


def _count(items: Sequence[Item]) -> int:
    return sum(len(item.events) if isinstance(item, Run) else 1 for item in items)


def _is_in(event: Event, loop: Loop, depth: int) -> bool:
    loops = event.context.loops
    return len(loops) > depth and loops[depth] is loop


def iterations(trips: int, most: int) -> list[int]:
    """The iterations that are looked at: the first ones and the last two."""
    if trips <= most:
        return list(range(trips))
    ends = 1 if most < 5 else 2
    return [*range(most - ends), *range(trips - ends, trips)]


class Intervals(Struct, eq=False):
    """When the instances of one event happen. Arrays are [rows, warps] of the rows of the event's loops."""

    block: NDArray[np.int64]
    """The barrier interval of the block."""
    warp: NDArray[np.int64]
    """The interval between barriers of the warp."""
    soft: NDArray[np.int64]
    """The same, with shuffles and votes counted as well."""
    grid: NDArray[np.int64]
    until: NDArray[np.int64]
    """The last barrier interval of the block in which it may still be under way: later than the first for an
    asynchronous copy, and between arriving at a barrier and waiting there."""
    step: NDArray[np.int64]
    """[rows] when the walk through the trace of the block got there."""


class _Clock(Struct):
    """The current intervals of one block, while its trace is walked."""

    warp: NDArray[np.int64]
    shuffles: int = 0
    block: int = 0
    grid: int = 0
    step: int = 0
    arrived: bool = False
    """Between an arrival at a barrier and the wait."""
    between: list[tuple[Intervals, int | slice]] = field(default_factory=list)
    """What was stamped since the arrival."""
    open: list[tuple[int, int]] = field(default_factory=list)
    """Asynchronous copies that are in no group yet: event and row."""
    groups: list[list[tuple[int, int]]] = field(default_factory=list)

    def skip(self, barriers: frozenset[str]) -> None:
        """Iterations with barriers in them are passed over: nothing before meets anything after."""
        self.warp += 2
        if barriers == {"warp"}:
            return
        self.block += 2
        if "grid" in barriers:
            self.grid += 2
        self.groups.clear()
        self.open.clear()


class Program(Struct, frozen=True, eq=False):
    """What all traces of one execution have in common."""

    events: Sequence[Event]
    items: Sequence[Item]
    """The events as a tree of loops."""
    places: Mapping[int, int]
    """The position of each event, by its identity."""
    is_quiet: bool
    """All of it lies in one interval."""

    @staticmethod
    def of(events: Sequence[Event]) -> Program:
        places = {id(event): position for position, event in enumerate(events)}
        return Program(events, group(events), places, _is_quiet(events))


class Unfolding:
    """The trace of some blocks under one launch."""

    def __init__(
        self,
        graph: Graph,
        block: tuple[int, int, int],
        blocks: NDArray[np.int64],
        program: Program,
        uniforms: Mapping[Node, int | float] | None = None,
        most_iterations: int = 12,
        data: Data = "random",
        is_brief: bool = False,
        like: Unfolding | None = None,
    ) -> None:
        """`blocks` is [n, 3]. All blocks and iterations see the same `data`; in a brief one it ends loops soon. `like`
        is a trace of the same situation whose rows are taken over."""
        self.graph = graph
        self.block = block
        self.threads = Threads.of(block)
        self.events = program.events
        self._most = most_iterations
        self._is_brief = is_brief
        self._masks: dict[int, NDArray[np.bool_]] = {}
        self._comers: dict[int, tuple[list[bool], NDArray[np.bool_]]] = {}
        self._times: dict[int, Intervals] = {}
        self._runs: dict[int, tuple[int, int]] = {}
        """For an event of a run, the first one, which has the times of all, and how many steps later it comes."""
        self._steps = 0
        self._widths: dict[tuple[int, ...], int] = {}
        """How many steps an iteration of a loop takes in which nothing else moves the clock."""
        if like is None:
            self.base = Rows(graph, self.threads, blocks, np.ones(len(blocks)), dict(uniforms or {}))
            self.base.salt = np.full((len(blocks), 1), 0x9E3779B97F4A7C15, dtype=np.uint64)
            self.base.data = data
            self._nests: dict[tuple[int, ...], Rows] = {(): self.base}
            self._children: dict[tuple[int, ...], list[list[int]]] = {}
            self._numbers: dict[tuple[int, ...], list[int]] = {}
            self._starts: dict[tuple[int, ...], list[int]] = {}
            self._cut: set[Loop] = set()
        else:
            self.base, self._nests, self._children = like.base, like._nests, like._children
            self._numbers, self._starts, self._cut = like._numbers, like._starts, like._cut
        self._place, items = program.places, program.items
        if program.is_quiet:
            self._stamp_all(items, (), 0, len(blocks), _Clock(np.zeros(self.threads.warps, dtype=np.int64)))
            return
        for row in range(len(blocks)):
            clock = _Clock(np.zeros(self.threads.warps, dtype=np.int64))
            self._walk(items, (), row, clock)

    def without(self, barriers: Collection[BarrierEvent]) -> Unfolding:
        """The same trace with some barriers pretended away."""
        left = Program.of([event for event in self.events if event not in barriers])
        return Unfolding(self.graph, self.block, self.base.blocks, left, most_iterations=self._most, like=self)

    def place_of(self, event: Event) -> int:
        """Its position among the events."""
        return self._place[id(event)]

    # rows

    def is_reached(self, event: Event) -> bool:
        """Whether the loops around the event make an iteration."""
        return _nest(event) in self._nests

    def rows_of(self, event: Event) -> Rows:
        """The situations that the event is looked at in; it has to be reached."""
        return self._nests[_nest(event)]

    def follows(self, event: Event, node: Node) -> bool:
        """Whether a value can be evaluated where an event happens: it depends on no counter of another loop."""
        own = 0
        for loop in event.context.loops:
            own |= loop.counter.bits
        return not node.bits & self.graph.loop_bits & ~own

    def iterations(self, event: Event) -> list[int]:
        """How many iterations the loops around an event make at most, outermost first."""
        nest = _nest(event)
        numbers = [self._numbers.get(nest[: depth + 1], ()) for depth in range(len(nest))]
        return [max(found, default=-1) + 1 for found in numbers]

    def is_whole(self, loop: Loop) -> bool:
        """Whether all iterations of a loop are looked at."""
        return loop not in self._cut

    def is_walked(self, event: Event) -> bool:
        return self._timed(event)[0] in self._times

    def times(self, event: Event) -> Intervals:
        place, later = self._timed(event)
        times = self._times[place]
        return replace(times, step=times.step + later) if later else times

    def written(self, event: Event) -> bytes:
        """In which blocks and iterations an event is looked at, and when it happens in them, for comparisons."""
        times, rows = self.times(event), self.rows_of(event)
        nest = _nest(event)
        numbers = [np.array(self._numbers[nest[:depth]]) for depth in range(1, len(nest) + 1)]
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

    def _walk(self, items: Sequence[Item], nest: tuple[int, ...], row: int, clock: _Clock) -> None:
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

    def _walk_loop(self, item: LoopItems, nest: tuple[int, ...], row: int, clock: _Clock) -> None:
        inner = (*nest, item.loop.counter.index)
        if inner not in self._children:
            self._unfold(item, nest, inner)
        if item.is_quiet:
            starts = self._starts[inner]
            self._stamp_all(item.items, inner, starts[row], starts[row + 1], clock)
            return
        rows, numbers = self._children[inner][row], self._numbers[inner]
        previous = -1
        for child in rows:
            if item.barriers and numbers[child] != previous + 1:
                self._end_copies(clock)
                clock.skip(item.barriers)
            previous = numbers[child]
            self._walk(item.items, inner, child, clock)

    def _stamp_all(self, items: Sequence[Item], nest: tuple[int, ...], start: int, end: int, clock: _Clock) -> None:
        """What happens in some rows of a nest, when nothing in it moves the clock but the steps, row after row."""
        if end <= start:
            return
        steps = self._steps_of_row(items, nest, start, end)
        self._stamp_rows(items, nest, start, clock.step + steps * np.arange(end - start), clock)
        clock.step += steps * (end - start)

    def _steps_of_row(self, items: Sequence[Item], nest: tuple[int, ...], start: int, end: int) -> int:
        """How many steps one of some rows takes at most, with the loops in it."""
        self._step(_count(items))
        steps = 0
        for item in items:
            steps += len(item.events) if isinstance(item, Run) else 1
            if isinstance(item, LoopItems):
                inner = (*nest, item.loop.counter.index)
                if inner not in self._children:
                    self._unfold(item, nest, inner)
                starts = self._starts[inner][start : end + 1]
                if starts[-1] > starts[0]:
                    self._widths[inner] = self._steps_of_row(item.items, inner, starts[0], starts[-1])
                    steps += self._widths[inner] * max(b - a for a, b in itertools.pairwise(starts))
        return steps

    def _stamp_rows(
        self, items: Sequence[Item], nest: tuple[int, ...], start: int, steps: NDArray[np.int64], clock: _Clock
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
                starts = np.array(self._starts[inner][start : end + 1])
                counts = np.diff(starts)
                if counts.any():
                    number = np.arange(starts[0], starts[-1]) - np.repeat(starts[:-1], counts)
                    width = self._widths[inner]
                    before = np.repeat(steps, counts) + number * width
                    self._stamp_rows(item.items, inner, int(starts[0]), before, clock)
                    steps = steps + width * int(counts.max())

    def _unfold(self, item: LoopItems, nest: tuple[int, ...], inner: tuple[int, ...]) -> None:
        loop = item.loop
        parent = self._nests[nest]
        trips = np.broadcast_to(
            parent.trips(loop.counter, loop.condition), (parent.count, self.threads.warps * WARP_LANES)
        )
        active = mask_of(parent, [c for c in loop.conditions if not c.bits & self.graph.opaque_bits])
        if self._is_brief and loop.condition.bits & self.graph.opaque_bits:
            trips = np.minimum(trips, _BRIEF)
        longest: list[int] = np.where(active, trips, 0).max(axis=1).tolist()
        room = max(_FEWEST, _MOST_ROWS // max(parent.count, 1))
        most = min(_ITERATIONS.get(len(nest) + item.depth, _FEWEST), room, self._most)
        children: list[list[int]] = []
        where: list[int] = []
        numbers: list[int] = []
        for row, count in enumerate(longest):
            chosen = iterations(count, most)
            if len(chosen) < count:
                self._cut.add(loop)
            children.append(list(range(len(where), len(where) + len(chosen))))
            where += [row] * len(chosen)
            numbers += chosen
        self._children[inner], self._numbers[inner] = children, numbers
        self._starts[inner] = [0, *itertools.accumulate(len(rows) for rows in children)]
        if where:
            counter = np.array(numbers, dtype=np.int64)[:, None]
            indices = np.array(where, dtype=np.int64)
            self._nests[inner] = parent.child(indices, np.ones(len(where)), {loop.counter: counter})

    def _stamp_run(self, run: Run, row: int | slice, clock: _Clock) -> Intervals:
        """Gives all events of a run their times, which differ only by the steps in between."""
        place = self._place[id(run.events[0])]
        if place not in self._times:
            for later, event in enumerate(run.events):
                self._runs[self._place[id(event)]] = (place, later)
        return self._stamp(run.events[0], row, clock)

    def _stamp(self, event: Event, row: int | slice, clock: _Clock) -> Intervals:
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
        if isinstance(event, (AccessEvent, LibraryAccess)) and isinstance(row, int) and _moves_clock(event):
            times.until[row] = 1 << 40
            clock.open.append((place, row))
        elif clock.arrived:
            clock.between.append((times, row))
        return times

    def _pass(self, event: BarrierEvent, row: int, clock: _Clock) -> None:
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

    def _end_copies(self, clock: _Clock) -> None:
        """Copies that are under way when iterations are passed over end in these."""
        for place, at in itertools.chain(clock.open, *clock.groups):
            self._times[place].until[at] = clock.block

    def _copied(self, event: CopyEvent, row: int, clock: _Clock) -> None:
        if event.leaves is None:
            clock.groups.append(clock.open)
            clock.open = []
            return
        if event.leaves == 0:
            clock.groups.append(clock.open)
            clock.open = []
        done = clock.groups[: max(0, len(clock.groups) - event.leaves)]
        del clock.groups[: len(done)]
        for place, at in (copy for copies in done for copy in copies):
            self._times[place].until[at] = clock.block


def _nest(event: Event) -> tuple[int, ...]:
    return tuple(loop.counter.index for loop in event.context.loops)


def flat(values: Any, rows: Rows) -> NDArray[Any]:
    """[rows, threads], spread out."""
    return np.broadcast_to(values, (rows.count, rows.threads.warps * WARP_LANES))
