"""The events of an execution as a tree of loops, as they are walked through for every trace, and the iterations of
these loops that are looked at.

The first iterations are looked at, so that an iteration meets the next one across the back edge, and the last ones,
which meet what follows the loop.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from cudalint.evaluate.requests.situations import mask_of
from cudalint.hardware.requests import WARP_LANES
from cudalint.interpreter.device.events import AccessEvent, BarrierEvent, CopyEvent, Event, LibraryAccess, Loop, Nest
from cudalint.values.graph import Graph
from cudalint.values.memory_data import Data
from cudalint.values.nodes import Node
from cudalint.values.numeric import Rows
from cudalint.values.threads import Threads


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


def _group(events: Sequence[Event], depth: int = 0) -> list[Item]:
    """The events as a tree of loops: those of one execution of a loop stand next to each other."""
    items: list[Item] = []
    position = 0
    while position < len(events):
        event = events[position]
        if len(event.context.loops) <= depth:
            if moves_clock(event):
                items.append(event)
            elif items and isinstance(items[-1], Run):
                items[-1].events.append(event)
            else:
                items.append(Run([event]))
            position += 1
            continue
        loop = event.context.loops[depth]
        end = position
        while end < len(events) and _is_in(events[end], loop, depth):
            end += 1
        inside = events[position:end]
        barriers = frozenset(e.scope for e in inside if isinstance(e, BarrierEvent))
        deepest = max(len(e.context.loops) for e in inside)
        is_quiet = not any(map(moves_clock, inside))
        items.append(LoopItems(loop, _group(inside, depth + 1), barriers, is_quiet, deepest - depth))
        position = end
    return items


def moves_clock(event: Event) -> bool:
    """Whether it orders threads, or goes on after the threads have passed it."""
    if isinstance(event, (AccessEvent, LibraryAccess)):
        return event.operation == "async-copy"
    return isinstance(event, (BarrierEvent, CopyEvent))


def event_count(items: Sequence[Item]) -> int:
    """How many events there are, those of a loop counted as one."""
    return sum(len(item.events) if isinstance(item, Run) else 1 for item in items)


def _is_in(event: Event, loop: Loop, depth: int) -> bool:
    loops = event.context.loops
    return len(loops) > depth and loops[depth] is loop


class EventTree(Struct, frozen=True, eq=False):
    """The events of one execution, in the order in which all traces of it have them."""

    events: Sequence[Event]
    items: Sequence[Item]
    """The same, loop by loop."""
    places: Mapping[int, int]
    """The position of each event, by its identity."""
    is_quiet: bool
    """All of it lies in one interval."""

    @staticmethod
    def of(events: Sequence[Event]) -> EventTree:
        places = {id(event): position for position, event in enumerate(events)}
        return EventTree(events, _group(events), places, not any(map(moves_clock, events)))


_MOST_ROWS = 96
_ITERATIONS = {1: 12, 2: 6, 3: 4}
"""Iterations that are looked at, by how deep the loops are nested."""
_FEWEST = 3
"""The first iteration, the one that follows it, and the last."""
_BRIEF = 4
"""Iterations of a loop that goes round a few times only: each of two halves of a buffer is filled twice."""

class Unfolded(Struct, frozen=True, eq=False):
    """The iterations of a loop that are looked at, each of which is a row."""

    numbers: list[int]
    """The number of the iteration in each row."""
    starts: list[int]
    """Of each row of the loops around it, the first row of the iterations in it; and how many rows there are in all."""

    def rows_in(self, row: int) -> range:
        """The iterations in a row of the loops around it."""
        return range(self.starts[row], self.starts[row + 1])


class LoopRows:
    """The situations in which the events of some blocks are looked at: the blocks, times iterations of the loops."""

    def __init__(
        self,
        graph: Graph,
        block: tuple[int, int, int],
        blocks: NDArray[np.int64],
        uniforms: Mapping[Node, int | float],
        most_iterations: int,
        data: Data,
        is_brief: bool,
    ) -> None:
        """`blocks` is [n, 3]. All blocks and iterations see the same `data`, which ends loops soon if `is_brief`."""
        self.base = Rows(graph, Threads.of(block), blocks, np.ones(len(blocks)), dict(uniforms))
        self.base.salt = np.full((len(blocks), 1), 0x9E3779B97F4A7C15, dtype=np.uint64)
        self.base.data = data
        self.rows: dict[Nest, Rows] = {(): self.base}
        """The situations in each nest of which an iteration is made."""
        self.unfolded: dict[Nest, Unfolded] = {}
        """By the nest that a loop makes with those around it."""
        self.cut: set[Loop] = set()
        """Loops of which not all iterations are looked at."""
        self._most = most_iterations
        self._is_brief = is_brief

    def unfold(self, item: LoopItems, nest: Nest) -> Unfolded:
        """The iterations of a loop in a nest that was unfolded before."""
        inner = (*nest, item.loop.counter.index)
        if inner not in self.unfolded:
            self._unfold(item, nest, inner)
        return self.unfolded[inner]

    def _unfold(self, item: LoopItems, nest: Nest, inner: Nest) -> None:
        loop, around = item.loop, self.rows[nest]
        most = self._most_iterations(len(nest) + item.depth, around)
        where: list[int] = []
        numbers: list[int] = []
        counts: list[int] = []
        for row, count in enumerate(self._trips(loop, around)):
            chosen = iterations(count, most)
            if len(chosen) < count:
                self.cut.add(loop)
            counts.append(len(chosen))
            where += [row] * len(chosen)
            numbers += chosen
        self.unfolded[inner] = Unfolded(numbers, [0, *itertools.accumulate(counts)])
        if where:
            counter = np.array(numbers, dtype=np.int64)[:, None]
            indices = np.array(where, dtype=np.int64)
            self.rows[inner] = around.child(indices, np.ones(len(where)), {loop.counter: counter})

    def _trips(self, loop: Loop, around: Rows) -> list[int]:
        """How many iterations the thread makes that makes most of them, in each row of the loops around."""
        opaque_bits = around.graph.opaque_bits
        shape = (around.count, around.threads.warps * WARP_LANES)
        trips = np.broadcast_to(around.trips(loop.counter, loop.condition), shape)
        active = mask_of(around, [c for c in loop.conditions if not c.bits & opaque_bits])
        if self._is_brief and loop.condition.bits & opaque_bits:
            trips = np.minimum(trips, _BRIEF)
        longest: list[int] = np.where(active, trips, 0).max(axis=1).tolist()
        return longest

    def _most_iterations(self, depth: int, around: Rows) -> int:
        room = max(_FEWEST, _MOST_ROWS // max(around.count, 1))
        return min(_ITERATIONS.get(depth, _FEWEST), room, self._most)


def iterations(trips: int, most: int) -> list[int]:
    """The iterations that are looked at: the first ones and the last two."""
    if trips <= most:
        return list(range(trips))
    ends = 1 if most < 5 else 2
    return [*range(most - ends), *range(trips - ends, trips)]
