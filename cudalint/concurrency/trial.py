"""A launch under one choice of sizes: the traces of some of its blocks, and the conflicts in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from cudalint.concurrency.conflicts import Conflict, Contest, Reach, all_conflicts
from cudalint.concurrency.lanes import Table, TooManyLanes, table_of
from cudalint.concurrency.loop_tree import EventTree, LoopRows
from cudalint.concurrency.unfold import TooLarge, Unfolding
from cudalint.evaluate.requests.execution import Execution
from cudalint.interpreter.device.events import Event, Touch
from cudalint.ir import nodes as ir
from cudalint.options.analysis import RaceScope
from cudalint.options.limits import problem_of
from cudalint.values.graph import Graph
from cudalint.values.memory_data import Data
from cudalint.values.nodes import Node, bits_of
from cudalint.values.numeric import Rows
from cudalint.values.threads import Threads

MOST_WORK = 2_500_000
"""For the barriers and races of one launch, on the graph's clock; what is not looked at by then is listed as not
analysed."""


_MOST_BLOCKS = 1024
"""Along an axis. Blocks far out in a grid of generic sizes would have addresses that overflow."""


class GaveUp(Exception):
    """The analysis of races would take too long."""


class Effort(Struct, frozen=True):
    """How much of a launch is looked at: blocks, and iterations of a loop."""

    blocks: int
    iterations: int


_MOST_KEPT = 1 << 15
"""Entries of a table that is kept to look for further conflicts in it; a larger one is asked at once about all that
others have."""
_CROWD = 2048
"""Threads that are compared at least where it matters how many there are, in as many blocks as that takes."""
_INSIDE = (Effort(4, 12), Effort(2, 4), Effort(1, 3))
_BETWEEN = (Effort(7, 4), Effort(4, 3), Effort(3, 2))


def _efforts(scope: RaceScope) -> tuple[Effort, ...]:
    return _INSIDE if scope == "block" else _BETWEEN


def _reaches(scope: RaceScope) -> tuple[Reach, ...]:
    return ("block", "warp") if scope == "block" else ("grid",)


class _Known(Struct, eq=False):
    """The conflicts among some accesses, as far as somebody asked for them."""

    conflicts: list[Conflict] | None = None
    """All of them."""
    sites: dict[frozenset[object], bool] = field(default_factory=dict)
    """Whether there are some between two places in the source."""


class Trial(Struct, eq=False):
    """One situation. Traces are made when they are asked for, smaller ones where large ones would be too large."""

    graph: Graph
    block: tuple[int, int, int]
    grid: tuple[Node, Node, Node]
    events: Sequence[Event]
    end: int
    """On the graph's clock."""
    volatile: Set[ir.Span] = frozenset()
    """Where accesses are made to what is declared so."""
    values: Mapping[Node, int | float] = field(default_factory=dict)
    data: Data = "random"
    is_brief: bool = False
    """Loops that loaded data ends make no more than a few iterations."""
    is_crowd: bool = False
    """Small blocks are compared in larger numbers, so that there are as many threads as in large ones."""
    _traces: dict[tuple[RaceScope, Effort], Unfolding] = field(default_factory=dict)
    _too_large: set[tuple[RaceScope, Effort]] = field(default_factory=set)
    """Traces that were begun and given up."""
    _others: dict[object, Trial] = field(default_factory=dict)
    _known: dict[object, _Known] = field(default_factory=dict)
    _alike: dict[object, _Known] = field(default_factory=dict)
    """The same by what the tables hold, for all trials of the execution: most sizes change nothing in most of them."""
    _found: dict[object, set[frozenset[object]]] = field(default_factory=dict)
    """For all trials as well, by accesses and scope: the pairs of places that conflict in one trial, which is what the
    others are asked about."""
    _contests: dict[object, Contest | None] = field(default_factory=dict)
    _extents: tuple[int, ...] = ()
    _is_launched: bool | None = None
    _between: Rows | None = None
    _tree: EventTree | None = None

    def conflicts(self, touches: Sequence[Touch], size: int | None, scope: RaceScope) -> list[Conflict]:
        """The conflicts among the accesses to one array, within blocks or between them. Raises `GaveUp`."""
        known = self._known_of(touches, size, scope)
        if known.conflicts is None:
            contest = self._contest(touches, size, scope)
            known.conflicts = [] if contest is None else all_conflicts(contest, _reaches(scope))
            self._contests.clear()
            self._found.setdefault(_key(touches, scope), set()).update(c.sites for c in known.conflicts)
        return known.conflicts

    def has_conflict(
        self, sites: frozenset[object], touches: Sequence[Touch], size: int | None, scope: RaceScope
    ) -> bool:
        """Whether two places in the source conflict: `Conflict.sites`. Raises `GaveUp`."""
        known = self._known_of(touches, size, scope)
        if known.conflicts is not None and sites not in known.sites:
            known.sites[sites] = any(conflict.sites == sites for conflict in known.conflicts)
        if sites not in known.sites:
            contest = self._contest(touches, size, scope)
            asked = {sites}
            if contest is not None and len(contest.table) > _MOST_KEPT:
                asked |= self._found.get(_key(touches, scope), set()) - known.sites.keys()
                self._contests.clear()
            for pair in asked:
                known.sites[pair] = contest is not None and contest.is_any_between(pair, _reaches(scope))
        return known.sites[sites]

    def _known_of(self, touches: Sequence[Touch], size: int | None, scope: RaceScope) -> _Known:
        """What is known of the conflicts among some accesses, which is the same in all trials with equal tables."""
        key = _key(touches, scope)
        if key not in self._known:
            contest = self._contest(touches, size, scope)
            content = () if contest is None else contest.table.content(self.values, self.data)
            self._known[key] = self._alike.setdefault((key, content), _Known())
        return self._known[key]

    def _contest(self, touches: Sequence[Touch], size: int | None, scope: RaceScope) -> Contest | None:
        key = _key(touches, scope)
        if key not in self._contests:
            table = self._table(touches, size, scope)
            self._contests[key] = None if table is None else Contest(table)
        return self._contests[key]

    def _table(self, touches: Sequence[Touch], size: int | None, scope: RaceScope) -> Table | None:
        for effort in _efforts(scope):
            if self.is_over():
                break
            with suppress(TooLarge, TooManyLanes):
                return table_of(self.trace(scope, effort), touches, size)
        raise GaveUp

    def some_trace(self, scope: RaceScope) -> Unfolding:
        """The trace of as many blocks and iterations as can be followed. Raises `TooLarge` if that is none."""
        for effort in _efforts(scope):
            with suppress(TooLarge):
                return self.trace(scope, effort)
        raise TooLarge

    def trace(self, scope: RaceScope, effort: Effort | None = None) -> Unfolding:
        """The trace of some blocks. Raises `TooLarge`."""
        effort = effort or _efforts(scope)[0]
        key = (scope, effort)
        if key in self._too_large:
            raise TooLarge
        found = self._traces.get(key)
        if found is None:
            try:
                found = self._traces[key] = self._unfold(scope, effort)
            except TooLarge:
                self._too_large.add(key)
                raise
        return found

    def _unfold(self, scope: RaceScope, effort: Effort) -> Unfolding:
        extents = self.extents()
        blocks = _inside(extents, effort.blocks) if scope == "block" else _neighbours(extents, effort.blocks)
        if self.is_crowd and scope == "grid":
            blocks = _with_more(blocks, extents, _CROWD // math.prod(self.block))
        loops = LoopRows(
            self.graph, self.block, blocks, self.values, effort.iterations, self.data, self.is_brief
        )  # fmt: skip
        return Unfolding(self.tree(), loops, self.volatile)

    def tree(self) -> EventTree:
        """The events, as all trials of the execution walk through them."""
        if self._tree is None:
            self._tree = EventTree.of(self.events)
        return self._tree

    def under(
        self, values: Mapping[Node, int | float], data: Data = "random", is_brief: bool = False, is_crowd: bool = False
    ) -> Trial:
        """The same launch with other values for some symbols, and other data in memory."""
        key = (data, is_brief, is_crowd, *sorted((node.index, value) for node, value in values.items()))
        found = self._others.get(key)
        if found is None:
            merged = {**self.values, **values}
            found = Trial(
                self.graph, self.block, self.grid, self.events, self.end, self.volatile, merged, data,
                is_brief, is_crowd, _alike=self._alike, _found=self._found, _tree=self.tree(),
            )  # fmt: skip
            self._others[key] = found
        return found

    def is_over(self) -> bool:
        return self.graph.work > self.end

    def trim(self) -> None:
        """Forgets the traces of other situations, but not what was found in them."""
        for other in self._others.values():
            other._traces.clear()
            other._contests.clear()
            other._between = None
            other.trim()

    def extents(self) -> tuple[int, ...]:
        """The grid's."""
        if not self._extents:
            self._extents = Rows.of_one_block(self.graph, self.values, self.block).extents(self.grid)
        return self._extents

    @property
    def is_launched(self) -> bool:
        """Whether the sizes make a grid at all: one of a negative size is none, even where two make a positive one."""
        if self._is_launched is None:
            self._is_launched = self._makes_grid()
        return self._is_launched

    def _makes_grid(self) -> bool:
        bits = bits_of(self.grid)
        if any(symbol.bits & bits and value < 1 for symbol, value in self.values.items()):
            return False
        return problem_of("grid", Rows.of_one_block(self.graph, self.values, self.block).counts(self.grid)) is None

    @property
    def has_neighbours(self) -> bool:
        return max(self.extents()) > 1

    def neighbours(self) -> Rows:
        """The blocks that are compared with one another, as rows."""
        if self._between is None:
            blocks = _neighbours(self.extents(), _BETWEEN[0].blocks)
            weights = np.ones(len(blocks))
            self._between = Rows(self.graph, Threads.of(self.block), blocks, weights, self.values)
        return self._between


def trial_of(execution: Execution) -> Trial:
    """The generic situation of an execution."""
    view = execution.view
    volatile = execution.function.volatile
    return Trial(view.graph, view.block, view.grid, execution.events, view.graph.work + MOST_WORK, volatile)


def _key(touches: Sequence[Touch], scope: RaceScope) -> object:
    """What tells some accesses of an execution, as they are searched, from others."""
    return id(touches[0]), len(touches), scope


def _inside(extents: tuple[int, ...], count: int) -> NDArray[np.int64]:
    """Blocks whose threads are compared with each other: the first, some inside, the last. In a grid of two axes one
    lies above and one below its diagonal, as kernels for one half of a matrix ask which."""
    x, y, z = extents
    inside = [(x // 2, y // 2, z // 2)] if min(x, y) == 1 else [(x // 2, y // 4, z // 2), (x // 4, y // 2, z // 2)]
    chosen = [(0, 0, 0), inside[0], (x - 1, y - 1, z - 1), *inside[1:]]
    return np.array(list(dict.fromkeys(chosen))[:count], dtype=np.int64)


def _neighbours(extents: tuple[int, ...], count: int) -> NDArray[np.int64]:
    """Blocks that are compared with one another: pairs of neighbours along every axis, at the start and inside, and
    the last ones."""
    extents = tuple(min(e, _MOST_BLOCKS) for e in extents)
    start, middle = (0, 0, 0), tuple(e // 2 for e in extents)
    last = tuple(e - 1 for e in extents)
    axes = [axis for axis in range(3) if extents[axis] > 1]
    chosen = [start, *(_moved(start, axis, 1) for axis in axes), last]
    chosen += [middle, *(_moved(middle, axis, 1) for axis in axes), *(_moved(last, axis, -1) for axis in axes)]
    chosen += [_moved(start, axis, 2) for axis in axes]
    kept = [b for b in dict.fromkeys(chosen) if all(0 <= i < e for i, e in zip(b, extents, strict=True))]
    return np.array(kept[:count], dtype=np.int64)


def _with_more(blocks: NDArray[np.int64], extents: tuple[int, ...], count: int) -> NDArray[np.int64]:
    """Blocks, and so many of the first ones of the grid that there are `count` of them, if the grid has those."""
    first = np.arange(min(count, math.prod(min(extent, count) for extent in extents)))
    x, y, _ = (min(extent, count) for extent in extents)
    more = np.stack((first % x, first // x % y, first // (x * y)), axis=1)
    known = {tuple(block) for block in blocks.tolist()}
    added = [block for block in more.tolist() if tuple(block) not in known][: max(0, count - len(blocks))]
    return np.array([*blocks.tolist(), *added], dtype=np.int64)


def _moved(block: tuple[int, ...], axis: int, by: int) -> tuple[int, ...]:
    return tuple(i + by if a == axis else i for a, i in enumerate(block))
