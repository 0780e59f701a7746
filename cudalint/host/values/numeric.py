"""Numbers for the nodes of a graph: all threads of a block, for many situations (rows), at once.

A row fixes what is uniform: a block index, a value for every uniform symbol, an iteration of every enclosing loop.
An array is [rows, threads], [rows, 1], [1, threads] or a plain number: whatever broadcasts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudalint.hardware.requests import WARP_LANES
from cudalint.host.values.apart import FAR, Apart, whole
from cudalint.host.values.arithmetic import Kind, Number
from cudalint.host.values.arrays import Array
from cudalint.host.values.caches import MOST_AT_ONCE
from cudalint.host.values.graph import Graph
from cudalint.host.values.memory_data import Data, held_number
from cudalint.host.values.nodes import BLOCK_BITS, THREAD_BITS, Node, bits_of
from cudalint.host.values.operations import OPERATIONS, PARTS, operate
from cudalint.host.values.threads import Threads, WarpMasks
from cudalint.host.values.trip_counts import lane_trips

_NODE_WORK = 5
_CELLS_PER_WORK = 256
"""As measured: microseconds to compute a node at all, and numbers that a microsecond is enough for."""


class _TooMuch(Exception):
    """What is computed takes more memory than an evaluation may keep."""


class Rows:
    """Situations to evaluate in, with the values computed so far.

    A child made by `child` refines its parent: row i of the child lies in row `parent_rows[i]` of the parent and
    additionally fixes some loop counters. Nodes that don't depend on those are computed once, in the parent.
    """

    def __init__(
        self,
        graph: Graph,
        threads: Threads,
        blocks: NDArray[np.int64],
        weights: NDArray[np.float64],
        uniforms: Mapping[Node, Array],
        replicas: NDArray[np.int64] | None = None,
        follows_data: bool = False,
    ) -> None:
        """`blocks` is [rows, 3], `weights` [rows], a uniform's value a number or [rows, 1]. Rows of one situation that
        differ in `replicas` see loaded numbers with other remainders: 32 of them see every remainder modulo 32 once.
        With `follows_data`, random data decides how often loops run that depend on data."""
        self.graph = graph
        self.threads = threads
        self.follows_data = follows_data
        self.weights = weights
        self.count = len(weights)
        self.blocks = blocks
        self.replica = np.zeros((self.count, 1), dtype=np.int64) if replicas is None else replicas[:, None]
        self.is_replicated = bool(self.replica.any())
        self.salt = (np.arange(self.count, dtype=np.uint64)[:, None] + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15
        )
        self.data: Data = "random"
        self._uniforms = dict(uniforms)
        self._counters: dict[Node, Array] = {}
        self._start_keeping()
        self.alive: NDArray[np.bool_] = threads.exists
        """Which lanes are still in the loops around: those that left one in an earlier iteration are not."""
        self._parent: Rows | None = None
        self._parent_rows: NDArray[np.int64] | None = None
        """None where all rows of the parent are these."""
        self._own_bits = 0

    @staticmethod
    def of_one_block(graph: Graph, uniforms: Mapping[Node, Any], block: tuple[int, int, int] = (1, 1, 1)) -> Rows:
        """The first block alone, by default of one thread: for values that all threads share."""
        return Rows(graph, Threads.of(block), np.zeros((1, 3), dtype=np.int64), np.ones(1), uniforms)

    def extents(self, grid: Sequence[Node]) -> tuple[int, ...]:
        """The extents of a grid as numbers: at least one block along each axis."""
        return tuple(max(1, count) for count in self.counts(grid))

    def counts(self, grid: Sequence[Node]) -> tuple[int, ...]:
        """The extents of a grid as they are computed: of some sizes there is no block at all."""
        return tuple(int(np.asarray(self.value(axis)).flat[0]) for axis in grid)

    def child(
        self,
        parent_rows: NDArray[np.int64],
        weights: NDArray[np.float64],
        counters: Mapping[Node, Array],
        alive: NDArray[np.bool_] | None = None,
    ) -> Rows:
        """Rows that refine this one: `counters` gives the new loop counters, each [rows, 1] or a number."""
        rows = Rows.__new__(Rows)
        rows.graph, rows.threads, rows.weights, rows.count = self.graph, self.threads, weights, len(weights)
        rows.blocks, rows.follows_data, rows.data = self.blocks[parent_rows], self.follows_data, self.data
        rows.salt, rows.replica = self.salt[parent_rows], self.replica[parent_rows]
        rows.is_replicated = self.is_replicated
        rows._uniforms = {}
        rows._counters = dict(counters)
        rows._start_keeping()
        rows.alive = self.alive if alive is None else alive
        rows._parent, rows._parent_rows = self, parent_rows
        rows._own_bits = bits_of(counters)
        return rows

    def outside(self, levels: int) -> NDArray[np.bool_]:
        """`alive` as it is so many loops further out, for these rows."""
        if levels == 0 or self._parent is None:
            return self.alive
        if self._parent_rows is None:
            return self._parent.outside(levels)
        alive = self._parent.outside(levels - 1)
        return alive if len(alive) == 1 else alive[self._parent_rows]

    def at_iteration(self, counter: Node, iteration: int | NDArray[np.int64]) -> Rows:
        """The same rows with one loop counter fixed, for all lanes or for each ([rows, threads])."""
        return self.child(np.arange(self.count), self.weights, {counter: iteration})

    def at(self, iterations: Collection[tuple[Node, int]]) -> Rows:
        """The same rows in some iteration of some loops, for those that are asked for again and again."""
        found = self
        for counter, iteration in sorted(iterations, key=lambda one: (one[0].index, -one[1])):
            inner = found._inner.get((counter, iteration))
            if inner is None:
                inner = found._inner[counter, iteration] = found.at_iteration(counter, iteration)
            found = inner
        return found

    def fixes(self, node: Node) -> bool:
        """Whether every loop counter in `node` has a number here: that of a loop that is over has none."""
        missing, rows = node.bits & self.graph.loop_bits, self
        while missing and rows._parent is not None:
            missing, rows = missing & ~rows._own_bits, rows._parent
        return not missing

    # keeping numbers

    def _start_keeping(self) -> None:
        self._memo: dict[int, Array] = {}
        self._trips: dict[tuple[Node, Node], NDArray[np.int64]] = {}
        self._apart: dict[int, Apart | None] = {}
        self._masks: dict[tuple[int, ...], NDArray[np.bool_]] = {}
        self._masks_by_warp: dict[tuple[int, ...], WarpMasks] = {}
        self._inner: dict[tuple[Node, int], Rows] = {}
        self._uses: dict[int, int] | None = None
        """How often each number that is kept goes into what is computed now, where that is too much to keep it all."""
        self.bytes = 0
        self._is_busy = False
        self.graph.caches.register(self)

    def forget(self) -> None:
        """Drops the numbers that are kept."""
        self._memo.clear()
        self._trips.clear()
        self._apart.clear()
        self._masks.clear()
        self._masks_by_warp.clear()
        self.bytes = 0

    def value(self, node: Node) -> Array:
        """The numbers of `node`: integers as int64, floats as float64, conditions as bool."""
        done = self._memo.get(node.index)
        if done is None:
            if node.is_const:
                done = self._memo[node.index] = constant(node)
            else:
                done = self._keep(node) if self._is_busy else self._begin(node)
        return done

    def _begin(self, node: Node) -> Array:
        """Computes what is asked for from outside: at once or, where that takes too much memory, in an order in which
        numbers can be dropped that nothing needs any more."""
        self._is_busy = True
        try:
            if self.graph.caches.is_working:
                return self._at_once(node)
            with self.graph.caches.working(), np.errstate(all="ignore"):
                return self._at_once(node)
        finally:
            self._is_busy = False

    def _at_once(self, node: Node) -> Array:
        try:
            return self._keep(node)
        except _TooMuch:
            return self._in_order(node)

    def _keep(self, node: Node) -> Array:
        done = self._compute(node)
        size, kept = (done.size, done.nbytes) if isinstance(done, np.ndarray) else (1, 8)
        self._memo[node.index] = done
        self.bytes += kept
        self.graph.caches.note(kept)
        self.graph.work += _NODE_WORK + size // _CELLS_PER_WORK
        if self.bytes > MOST_AT_ONCE and self._uses is None:
            raise _TooMuch
        return done

    def _in_order(self, root: Node) -> Array:
        """Computes arguments before what they go into."""
        order, self._uses = self._schedule(root)
        try:
            for node in order:
                if node.index not in self._memo:
                    self._keep(node)
                for argument in self._arguments(node):
                    self._uses[argument.index] -= 1
                if self.bytes > MOST_AT_ONCE:
                    self._drop(self._uses)
            return self._memo[root.index]
        finally:
            self._uses = None

    def _drop(self, uses: Mapping[int, int]) -> None:
        """Drops what is not needed any more, the oldest first, until there is room for a while."""
        for index in list(self._memo):
            if not uses.get(index):
                done = self._memo.pop(index)
                self.bytes -= done.nbytes if isinstance(done, np.ndarray) else 8
                if self.bytes <= MOST_AT_ONCE // 2:
                    return

    def _schedule(self, root: Node) -> tuple[list[Node], dict[int, int]]:
        """What is not computed yet of all that a value is computed from, arguments first; and how often each of them,
        and of what is kept already, goes into others."""
        order: list[Node] = []
        uses = {root.index: 1}
        begun: set[int] = set()
        pending: list[tuple[Node, bool]] = [(root, False)]
        while pending:
            node, is_done = pending.pop()
            if is_done:
                order.append(node)
            elif node.index not in begun:
                begun.add(node.index)
                pending.append((node, True))
                for argument in self._arguments(node):
                    uses[argument.index] = uses.get(argument.index, 0) + 1
                    if argument.index not in self._memo:
                        pending.append((argument, False))
        return order, uses

    def _arguments(self, node: Node) -> Sequence[Node]:
        """The values that go into another one here: none into what is known further out, or by trying iterations."""
        if node.op == "trips" or (self._parent is not None and not node.bits & self._own_bits):
            return ()
        return [argument for argument in node.args if argument.op != "const"]

    def apart(self, node: Node) -> Apart | None:
        """The numbers of `node` as sums of one for the row and one for the thread, if they come apart."""
        if node.index in self._apart:
            return self._apart[node.index]
        if self.graph.caches.is_working:
            return self._keep_apart(node)
        with self.graph.caches.working(), np.errstate(all="ignore"):
            return self._keep_apart(node)

    def _keep_apart(self, node: Node) -> Apart | None:
        if self._parent is None or node.bits & self._own_bits:
            found = self._parts(node)
        else:
            found = self._parent.apart(node)
            found = found and found._replace(row=self._inherited(found.row))
        self._apart[node.index] = found
        kept = 8 if found is None else found.row.nbytes + found.lane.nbytes
        self.bytes += kept
        self.graph.caches.note(kept)
        return found

    def _parts(self, node: Node) -> Apart | None:
        bits = node.bits
        if not bits & THREAD_BITS or not bits & (BLOCK_BITS | self.graph.loop_bits | self.graph.opaque_bits):
            return whole(self.value(node))
        way = PARTS.get(node.op)
        found = way(self, node) if way is not None and node.kind.code in "iu" else None
        return found if found is not None and found.low > -FAR and found.high < FAR else None

    def ends(self, node: Node) -> tuple[int, int]:
        """Whole numbers that no number of `node` is below or above."""
        found = self.apart(node)
        if found is not None:
            return found.low, found.high
        numbers = np.asarray(self.value(node))
        return int(numbers.min()), int(numbers.max())

    def trips(self, counter: Node, condition: Node) -> NDArray[np.int64]:
        """How many iterations each lane makes of the loop with this counter and this condition."""
        trips = self._trips.get((counter, condition))
        if trips is None:
            with np.errstate(all="ignore"):
                trips = self._trips[counter, condition] = self._lane_trips(counter, condition)
            self.bytes += trips.nbytes
            self.graph.caches.note(trips.nbytes)
        return trips

    def _lane_trips(self, counter: Node, condition: Node) -> NDArray[np.int64]:
        if self._parent is not None and not condition.bits & self._own_bits:
            trips: NDArray[np.int64] = self._inherited(self._parent.trips(counter, condition))
            return trips
        if self.count > 1 and not condition.bits & ~(self.graph.uniform_bits | counter.bits):
            # All rows and lanes are alike.
            alone = self.child(np.zeros(1, dtype=np.int64), self.weights[:1], {})
            return lane_trips(alone, counter, condition)
        return lane_trips(self, counter, condition)

    def mask(self, conditions: Sequence[Node]) -> NDArray[np.bool_]:
        """[rows, threads] the lanes for which all conditions hold, among those that are still in the loops around."""
        key = tuple(condition.index for condition in conditions)
        mask = self._masks.get(key)
        if mask is None:
            mask = self._masks[key] = self._mask(conditions)
            # The kernel's accesses share their guards, and so what is kept.
            mask.flags.writeable = False
            self.bytes += mask.nbytes
            self.graph.caches.note(mask.nbytes)
        return mask

    def mask_by_warp(self, conditions: Sequence[Node]) -> WarpMasks:
        """`mask` in a shorter form."""
        key = tuple(condition.index for condition in conditions)
        packed = self._masks_by_warp.get(key)
        if packed is None:
            if self._parent is not None and self._shares_mask(conditions):
                packed = self._parent.mask_by_warp(conditions)
            else:
                packed = WarpMasks.of(self.mask(conditions))
            self._masks_by_warp[key] = packed
            self.bytes += packed.words.nbytes
            self.graph.caches.note(packed.words.nbytes)
        return packed

    # computing

    def _shares_mask(self, conditions: Sequence[Node]) -> bool:
        """Whether the same lanes meet conditions in the parent, of which all rows are these."""
        return self._parent_rows is None and not any(c.bits & self._own_bits for c in conditions)

    def _mask(self, conditions: Sequence[Node]) -> NDArray[np.bool_]:
        if self._parent is not None and self._shares_mask(conditions):
            return self._parent.mask(conditions)
        return self.narrowed(self.alive, conditions)

    def _inherited(self, numbers: Array) -> Array:
        """The numbers of the parent's rows for these rows."""
        if self._parent_rows is None or not isinstance(numbers, np.ndarray) or not numbers.ndim:
            return numbers
        assert self._parent is not None
        return numbers[self._parent_rows] if 1 < self._parent.count == len(numbers) else numbers

    def narrowed(self, alive: NDArray[np.bool_], conditions: Sequence[Node]) -> NDArray[np.bool_]:
        """[rows, threads] the lanes among `alive` for which all conditions hold."""
        mask: Any = alive
        for condition in conditions:
            mask = mask & self.value(condition)
        return self.over_lanes(np.asarray(mask, dtype=bool))

    def full(self, node: Node) -> NDArray[Any]:
        """`value` broadcast to [rows, threads]."""
        return self.over_lanes(self.value(node))

    def integers(self, node: Node) -> NDArray[np.int64]:
        """[rows, threads] the numbers of a whole `node`, from its two parts where it comes apart."""
        found = self.apart(node)
        if found is not None:
            return self.over_lanes(found.full())
        return self.full(node).astype(np.int64, copy=False)

    def over_lanes(self, array: Array) -> NDArray[Any]:
        """Any array of these rows as [rows, threads]; there may be no row at all."""
        shape = (self.count, self.threads.warps * WARP_LANES)
        if isinstance(array, np.ndarray) and array.shape == shape:
            return array
        return np.broadcast_to(array, shape)

    def _compute(self, node: Node) -> Array:
        if self._parent is not None and not node.bits & self._own_bits:
            return self._inherited(self._parent.value(node))
        if node.op in OPERATIONS:
            return operate(node, [self.value(node.args[0]), self.value(node.args[1])])
        if node.op == "loop":
            return self._counters[node]
        if node.op == "thread":
            assert isinstance(node.payload, int)
            return self.threads.indices[node.payload]
        if node.op == "block":
            assert isinstance(node.payload, int)
            return self.blocks[:, node.payload][:, None]
        if node.op == "uniform":
            given = self._uniforms[node] if node in self._uniforms else self.graph.choice(node).value
            # numpy's integers wrap where a product of generic sizes gets too large, Python's would not fit.
            return np.int64(_shared_bits(given, node.kind)) if isinstance(given, int) else given
        if node.op == "opaque":
            return held_number(self, node)
        if node.op == "trips":
            return self.trips(node.payload, node.args[0])  # type: ignore[arg-type]
        return operate(node, [self.value(a) for a in node.args])


def constant(node: Node) -> Array:
    """A constant as numpy computes with it."""
    return bool(node.value) if node.kind.code == "b" else _shared_bits(node.value, node.kind)


_TOO_LARGE = 1 << 63
"""For a signed number of 64 bits."""


def _shared_bits(value: Number, kind: Kind) -> Number:
    """Unsigned 64-bit numbers share the bits of signed ones; what has more bits loses them."""
    if isinstance(value, int) or (kind.code == "u" and value >= _TOO_LARGE):
        return (int(value) + _TOO_LARGE) % (2 * _TOO_LARGE) - _TOO_LARGE
    return value
