"""Situations: launches with values for all uniform symbols, evaluated for representative rows.

Rows are the first, the last and interior blocks along each axis, and the first, the last and interior iterations of
each loop, each weighted by how many it stands for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cudalint.evaluate.requests.representatives import picks, picks_between, scattered, spread
from cudalint.hardware.requests import WARP_LANES
from cudalint.interpreter.device.events import Loop
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node, bits_of
from cudalint.values.numeric import Rows
from cudalint.values.threads import Threads, WarpMasks
from cudalint.values.varying import Lanes

if TYPE_CHECKING:
    from cudalint.evaluate.requests.requests import Totals


class Effort(Struct, frozen=True):
    """How many representatives are taken."""

    blocks: tuple[int, int, int]
    """Along x, y and z."""
    rows: int
    """Rows at most, with loops."""
    iterations: int
    """Iterations of one loop at most."""
    replicas: int = 1
    """How often each row is repeated with other remainders of loaded numbers."""
    scattered: int = 0
    """So many blocks from all over the grid, in the place of those along the axes."""
    follows_data: bool = False
    """Loops that depend on data go on for as long as random data lets each lane; otherwise all lanes go on alike."""


QUICK = Effort((4, 3, 3), 40, 6)
THOROUGH = Effort((10, 10, 4), 400, 40)
"""Eight blocks between the ends: rows of an odd number of words begin at all eight places in a sector in turn."""
DEEP = Effort((4, 3, 2), 800, 40)
"""For nested loops: few blocks leave room for many iterations."""
SHIFTED = Effort((10, 3, 2), 800, 40)
"""The same where blocks begin at other places in a sector, all of which the iterations of two blocks need not show."""
REPLICATED = Effort((2, 2, 1), 256, 3, 32)
BY_DATA = Effort((2, 1, 1), 128, 4, 16, follows_data=True)
SCATTERED = Effort((0, 0, 0), 1600, 8, scattered=200)
"""Where it matters how a block's coordinates stand to each other, the few along each axis are no fair sample: those
that represent most others lie on the diagonal."""
PROBED = Effort((0, 0, 0), 200, 6, scattered=16)
"""As few as show whether blocks differ at all."""
_MOST_LANES = 64
"""Sets of active lanes of which is remembered what tells them apart."""
_MAX_CELLS = 1 << 18
"""Rows times threads at most: beyond, blocks of many threads would take too long."""


class Situation:
    """One launch with values for all uniform symbols: rows for every nest of loops, made on demand."""

    def __init__(
        self,
        graph: Graph,
        block: tuple[int, int, int],
        grid: tuple[Node, Node, Node],
        effort: Effort,
        uniforms: Mapping[Node, int | float] | None = None,
        edges: Sequence[Sequence[int]] = ((), (), ()),
        usual: Situation | None = None,
        numbers: dict[tuple[int, ...], int] | None = None,
    ) -> None:
        """`edges`: blocks along x, y and z that have to be among the representatives. `usual` is one of the same launch
        with the generic values: what other values make no difference to is taken over from it. `numbers` are those of
        the same situation before it was forgotten."""
        self.graph = graph
        self.effort = effort
        self._edges = edges
        self.threads = Threads.of(block)
        values = dict(uniforms or {})
        bits = bits_of(values)
        if usual is not None and not any(axis.bits & bits for axis in grid):
            self.grid: tuple[int, ...] = usual.grid
        else:
            self.grid = Rows.of_one_block(graph, values, block).extents(grid)
        self._values, self._bits = values, bits
        is_alike = usual is not None and (usual.grid, usual.effort, usual._edges) == (self.grid, effort, edges)
        self._usual = usual if is_alike else None
        self.base: Rows = self._base_rows(values) if self._usual is None else self._usual.base.varied(values)
        self._nests: dict[tuple[int, ...], Rows] = {}
        self._numbers = numbers if numbers is not None else {}
        """When each of them was first made, by which iterations are drawn."""
        self.totals: dict[object, Totals] = {}
        """By what tells accesses apart: the sums over their requests."""
        self._reached: dict[object, float] = {}
        self._lanes: dict[tuple[tuple[int, ...], bytes], Lanes] = {}

    def _base_rows(self, values: Mapping[Node, int | float]) -> Rows:
        if self.effort.scattered:
            return self._scattered_rows(values)
        wanted = zip(self.grid, self.effort.blocks, self._edges, strict=True)
        axes = [picks_between(extent, count, own) if own else picks(extent, count) for extent, count, own in wanted]
        chosen = [((x, y, z), wx * wy * wz) for z, wz in axes[2] for y, wy in axes[1] for x, wx in axes[0]]
        repeated = self.effort.replicas
        blocks = np.array([b for b, _ in chosen], dtype=np.int64).reshape(-1, 3).repeat(repeated, axis=0)
        # All of them together stand for what one row does without them.
        weights = np.array([w / repeated for _, w in chosen], dtype=np.float64).repeat(repeated)
        replicas = np.tile(np.arange(repeated, dtype=np.int64), len(chosen))
        return Rows(self.graph, self.threads, blocks, weights, values, replicas, self.effort.follows_data)

    def _scattered_rows(self, values: Mapping[Node, int | float]) -> Rows:
        count = min(self.effort.scattered, max(16, _MAX_CELLS // (self.threads.warps * WARP_LANES)))
        blocks, weights = scattered(self.grid, count)
        return Rows(self.graph, self.threads, blocks, weights, values)

    def rows(self, loops: Sequence[Loop]) -> Rows:
        """The rows for a place inside these loops, outermost first."""
        if not loops:
            return self.base
        key = tuple(loop.counter.index for loop in loops)
        rows = self._nests.get(key)
        if rows is None:
            parent = self.rows(loops[:-1])
            number = self._numbers.setdefault(key, len(self._numbers))
            rows = self._nests[key] = self._usual_rows(loops, key, number) or self._iterate(parent, loops[-1], number)
        return rows

    def _usual_rows(self, loops: Sequence[Loop], key: tuple[int, ...], number: int) -> Rows | None:
        """Those of the usual situation, if the same iterations stand for these loops here."""
        if self._usual is None or self._usual._numbers.get(key) != number:
            return None
        if any(node.bits & self._bits for loop in loops for node in (loop.condition, *loop.conditions)):
            return None
        return self._usual.rows(loops).varied(self._values)

    def reached(self, rows: Rows, conditions: Sequence[Node], levels: int) -> float:
        """The weight of the warps of which some lanes meet all conditions, of those that are still in the loops so many
        levels further out."""
        key = (rows, *(condition.index for condition in conditions), -levels)
        found = self._reached.get(key)
        if found is None:
            alive = rows.outside(levels)
            is_here = alive is rows.alive
            masks = rows.mask_by_warp(conditions) if is_here else WarpMasks.of(rows.narrowed(alive, conditions))
            found = self._reached[key] = float((rows.weights[:, None] * masks.active).sum())
        return found

    def lanes(self, loops: Sequence[Loop], mask: NDArray[np.bool_]) -> Lanes:
        """Compares the lanes that are active at a place inside these loops; `mask` is [rows, warps, 32]."""
        key = (tuple(loop.counter.index for loop in loops), mask.tobytes())
        lanes = self._lanes.get(key)
        if lanes is None:
            if len(self._lanes) >= _MOST_LANES:
                self._lanes.clear()
            lanes = self._lanes[key] = Lanes(self.rows(loops), mask)
        return lanes

    def _iterate(self, parent: Rows, loop: Loop, number: int) -> Rows:
        """Refines rows by representative iterations of one more loop."""
        by_lane = self.lane_trips(parent, loop)
        trips: NDArray[np.int64] = by_lane.max(axis=1)
        limit = min(self.effort.rows, max(64, _MAX_CELLS // (self.threads.warps * WARP_LANES)))
        room = max(3, limit // max(parent.count, 1))
        most = min(self.effort.iterations, room)
        rows, counter, shares = spread(trips, most, parent.weights, np.random.default_rng(number))
        if len(rows) > limit:
            rows, counter, shares = _thin(rows, counter, shares, limit)
        return parent.child(rows, shares, {loop.counter: counter[:, None]}, counter[:, None] < by_lane[rows])

    def trips(self, rows: Rows, loop: Loop) -> NDArray[np.int64]:
        """[rows] how often the body is executed by at least one lane."""
        longest: NDArray[np.int64] = self.lane_trips(rows, loop).max(axis=1)
        return longest

    def lane_trips(self, rows: Rows, loop: Loop) -> NDArray[np.int64]:
        """[rows, threads] how often each lane executes the body."""
        trips = rows.over_lanes(rows.trips(loop.counter, loop.condition))
        opaque = self.graph.opaque_bits
        active = mask_of(rows, [c for c in loop.conditions if not c.bits & opaque])
        if self.effort.follows_data:
            shape = (rows.count, self.threads.warps, WARP_LANES)
            by_data = [c for c in loop.conditions if c.bits & opaque]
            lanes = Lanes(rows, active.reshape(shape))
            active = mask_of(rows, [c for c in by_data if lanes.vary(c)], active)
        return np.where(active, trips, 0)


def _thin(
    rows: NDArray[np.int64], counter: NDArray[np.int64], weights: NDArray[np.float64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Keeps `count` rows, drawn at random (always the same ones), with the total weight unchanged."""
    kept = np.sort(np.random.default_rng(1).choice(len(rows), count, replace=False))
    scale = weights.sum() / max(weights[kept].sum(), 1e-300)
    return rows[kept], counter[kept], weights[kept] * scale


def mask_of(rows: Rows, conditions: Sequence[Node], alive: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
    """[rows, threads] the lanes for which all conditions hold, among those that are still in the loops around."""
    if alive is None or alive is rows.alive:
        return rows.mask(conditions)
    return rows.narrowed(alive, conditions)
