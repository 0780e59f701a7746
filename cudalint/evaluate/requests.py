"""From access events to warp-level requests, and from those to figures: sectors, wavefronts, ideals.

The evaluation is done for representative rows: the first, the last and interior blocks along each axis, the first,
the last and interior iterations of each loop, each weighted by how many it stands for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cudalint.evaluate.events import AccessEvent, Loop
from cudalint.evaluate.graph import Graph, conjuncts
from cudalint.evaluate.nodes import THREAD_BITS, Node, Reason
from cudalint.evaluate.numeric import Rows, Threads
from cudalint.evaluate.representatives import picks, picks_between, scattered, spread
from cudalint.hardware.banks import shared_request
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import global_request


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
THOROUGH = Effort((12, 6, 4), 400, 40)
DEEP = Effort((4, 3, 2), 800, 40)
"""For nested loops: few blocks leave room for many iterations."""
REPLICATED = Effort((2, 2, 1), 256, 3, 32)
BY_DATA = Effort((2, 1, 1), 128, 4, 16, follows_data=True)
SCATTERED = Effort((0, 0, 0), 1600, 8, scattered=200)
"""Where it matters how a block's coordinates stand to each other, the few along each axis are no fair sample: those
that represent most others lie on the diagonal."""
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
    ) -> None:
        """`edges`: blocks along x, y and z that have to be among the representatives."""
        self.graph = graph
        self.effort = effort
        self._edges = edges
        self.threads = Threads.of(block)
        values = dict(uniforms or {})
        self.grid = Rows.of_one_block(graph, values, block).extents(grid)
        self.base = self._base_rows(values)
        self._nests: dict[tuple[int, ...], Rows] = {}
        self._lanes: dict[tuple[tuple[int, ...], bytes], Lanes] = {}

    def _base_rows(self, values: Mapping[Node, int | float]) -> Rows:
        if self.effort.scattered:
            return self._scattered_rows(values)
        wanted = zip(self.grid, self.effort.blocks, self._edges, strict=True)
        axes = [picks_between(extent, count, own) if own else picks(extent, count) for extent, count, own in wanted]
        chosen = [((x, y, z), wx * wy * wz) for z, wz in axes[2] for y, wy in axes[1] for x, wx in axes[0]]
        repeated = self.effort.replicas
        blocks = np.array([b for b, _ in chosen], dtype=np.int64).reshape(-1, 3).repeat(repeated, axis=0)
        weights = np.array([w for _, w in chosen], dtype=np.float64).repeat(repeated)
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
            rows = self._iterate(self.rows(loops[:-1]), loops[-1])
            self._nests[key] = rows
        return rows

    def lanes(self, loops: Sequence[Loop], mask: NDArray[np.bool_]) -> Lanes:
        """Compares the lanes that are active at a place inside these loops; `mask` is [rows, warps, 32]."""
        key = (tuple(loop.counter.index for loop in loops), mask.tobytes())
        lanes = self._lanes.get(key)
        if lanes is None:
            if len(self._lanes) >= _MOST_LANES:
                self._lanes.clear()
            lanes = self._lanes[key] = Lanes(self.rows(loops), mask)
        return lanes

    def _iterate(self, parent: Rows, loop: Loop) -> Rows:
        """Refines rows by representative iterations of one more loop."""
        by_lane = self.lane_trips(parent, loop)
        trips: NDArray[np.int64] = by_lane.max(axis=1)
        limit = min(self.effort.rows, max(64, _MAX_CELLS // (self.threads.warps * WARP_LANES)))
        room = max(3, limit // max(parent.count, 1))
        most = min(self.effort.iterations, room)
        rows, counter, shares = spread(trips, most, parent.weights, np.random.default_rng(len(self._nests)))
        if len(rows) > limit:
            rows, counter, shares = _thin(rows, counter, shares, limit)
        return parent.child(rows, shares, {loop.counter: counter[:, None]}, counter[:, None] < by_lane[rows])

    def trips(self, rows: Rows, loop: Loop) -> NDArray[np.int64]:
        """[rows] how often the body is executed by at least one lane."""
        longest: NDArray[np.int64] = self.lane_trips(rows, loop).max(axis=1)
        return longest

    def lane_trips(self, rows: Rows, loop: Loop) -> NDArray[np.int64]:
        """[rows, threads] how often each lane executes the body."""
        trips = np.broadcast_to(
            rows.trips(loop.counter, loop.condition), (rows.count, self.threads.warps * WARP_LANES)
        )
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


def entered(event: AccessEvent, rows: Rows) -> NDArray[np.bool_]:
    """The lanes that are still in the loops around the branch that guards an access: those that it keeps out of loops
    of its own get to it all the same."""
    inside = sum(len(loop.conditions) > event.context.guard for loop in event.context.loops)
    return rows.outside(inside)


def mask_of(
    rows: Rows, conditions: Sequence[Node], alive: NDArray[np.bool_] | None = None
) -> NDArray[np.bool_]:
    """[rows, threads] the lanes for which all conditions hold, among those that are still in the loops around."""
    if alive is None or alive is rows.alive:
        return rows.mask(conditions)
    return rows.narrowed(alive, conditions)


class Requests(Struct, frozen=True, eq=False):
    """The warp-level requests of one access event in one situation. R rows, W warps."""

    addresses: NDArray[np.int64]
    """[R, W, 32] bytes."""
    mask: NDArray[np.bool_]
    """[R, W, 32]."""
    weights: NDArray[np.float64]
    """[R, W] requests that each one stands for; 0 where no lane is active."""
    reached: float
    """Weight of the warps that get to the guard around the access."""
    cost: NDArray[np.float64]
    """[R, W] sectors or wavefronts."""
    ideal: NDArray[np.float64]

    @property
    def total(self) -> float:
        return float(self.weights.sum())

    def mean(self, figure: NDArray[Any]) -> float:
        """The weighted mean over all requests; `figure` is [R, W]."""
        return float((self.weights * figure).sum() / self.total)


def gather(event: AccessEvent, situation: Situation, conditions: Sequence[Node]) -> Requests:
    """Evaluates one access event under the given (known) conditions."""
    rows = situation.rows(event.context.loops)
    shape = (rows.count, situation.threads.warps, WARP_LANES)
    mask = mask_of(rows, conditions).reshape(shape)
    if not mask.any():
        return _no_requests(mask)
    addresses = rows.full(event.offset).reshape(shape)
    if addresses.dtype != np.int64:
        addresses = addresses.astype(np.int64)
    mask = _inside(event, conditions, addresses, mask, situation.graph)
    active = mask.any(axis=2)
    weights = rows.weights[:, None] * active
    known = {c.index for c in conditions}
    before = [c for c in event.context.conditions[: event.context.guard] if c.index in known]
    reached = mask_of(rows, before, entered(event, rows)).reshape(shape).any(axis=2)
    if event.target.space == "shared":
        cost, ideal = shared_request(addresses, mask, event.bytes, event.operation)
    else:
        sectors, least = global_request(addresses, mask, event.bytes)
        cost, ideal = sectors.astype(np.float64), least.astype(np.float64)
    return Requests(addresses, mask, weights, float((rows.weights[:, None] * reached).sum()), cost, ideal)


def _no_requests(mask: NDArray[np.bool_]) -> Requests:
    """What is gathered where no lane is active: there is nothing to compute."""
    nothing = np.zeros(mask.shape[:2])
    return Requests(np.zeros(mask.shape, dtype=np.int64), mask, nothing, 0.0, nothing, nothing)


def _inside(
    event: AccessEvent,
    conditions: Sequence[Node],
    addresses: NDArray[np.int64],
    mask: NDArray[np.bool_],
    graph: Graph,
) -> NDArray[np.bool_]:
    """The mask without requests that leave a shared array because of a made-up size or random data: those that a
    program really makes are inside. Where none is, nothing is known, and all stay."""
    size = event.target.bytes
    if event.target.space != "shared" or not size:
        return mask
    bits = event.offset.bits
    for condition in (*conditions, *(loop.condition for loop in event.context.loops)):
        bits |= condition.bits
    if not bits & (graph.opaque_bits | graph.uniform_bits):
        return mask
    outside = ((addresses < 0) | (addresses + event.bytes > size)) & mask
    kept = mask & ~outside.any(axis=2, keepdims=True)
    return kept if kept.any() else mask


def opaque_parts(graph: Graph, node: Node) -> Sequence[tuple[Node, Reason]]:
    """The values that cannot be followed among those that a node is computed from, with the reasons.

    What only went into other opaque values is left out: lanes that agree on the latter agree. A trip count that depends
    on opaque values counts as one.
    """
    known = graph.opaque_parts.get(node.index)
    if known is None:
        known = graph.opaque_parts[node.index] = tuple(_opaque_parts(graph, node))
    return known


def without_data(graph: Graph, node: Node) -> Node:
    """A value with zeros in the place of what cannot be followed."""
    return graph.substitute(node, {part: graph.const(0, part.kind) for part, _ in opaque_parts(graph, node)})


def _opaque_parts(graph: Graph, node: Node) -> Iterator[tuple[Node, Reason]]:
    seen: set[int] = set()
    pending: list[tuple[Node, Node | None]] = [(node, None)]
    while pending:
        current, stand_in = pending.pop()
        if current.index in seen or not current.bits & graph.opaque_bits:
            continue
        seen.add(current.index)
        if isinstance(current.payload, Reason):
            yield stand_in or current, current.payload
            continue
        if current.op == "trips" and stand_in is None:
            stand_in = current
        pending.extend((argument, stand_in) for argument in current.args)


def _divisions_by_data(graph: Graph, node: Node) -> Iterator[Node]:
    """The divisions and shifts by values that cannot be followed, but for what only went into such values."""
    seen: set[int] = set()
    pending = [node]
    while pending:
        current = pending.pop()
        if current.index in seen or not current.bits & graph.opaque_bits or isinstance(current.payload, Reason):
            continue
        seen.add(current.index)
        if current.op in ("/", "%", ">>") and current.args[1].bits & graph.opaque_bits:
            yield current
        pending.extend(current.args)


At = frozenset[tuple[Node, int]]
"""The counters of loops, with the iterations that are looked at."""


def _within(at: At, node: Node) -> At:
    """The loops of `at` that a value depends on."""
    inside = [one for one in at if one[0].bits & node.bits]
    return at if len(inside) == len(at) else frozenset(inside)


class Lanes:
    """Answers whether active lanes of one warp differ, once for each value: what goes into it is shared by many."""

    def __init__(self, rows: Rows, mask: NDArray[np.bool_]) -> None:
        self.mask = mask
        self._rows = rows
        self._graph = rows.graph
        self._known: dict[tuple[At, Node], bool] = {}
        self._apart: dict[tuple[At, Node], bool] = {}
        self._left_by: dict[Node, list[Node]] = {}
        self._rests: dict[Node, list[Node]] = {}

    def vary(self, node: Node, at: At = frozenset()) -> bool:
        """Whether two active lanes of one warp see different values of `node`. Loaded values differ where addresses do.
        """
        if not node.bits & THREAD_BITS:
            return False
        at = _within(at, node)
        found = self._known.get((at, node))
        if found is None:
            found = self._known[at, node] = self._vary(node, at)
        return found

    def _vary(self, node: Node, at: At) -> bool:
        if node.op == "opaque":
            return any(self.vary(argument, at) for argument in node.args)
        mask, rows = self.mask, self._rows.at(at)
        values = np.broadcast_to(rows.value(node), mask.reshape(rows.count, -1).shape).reshape(mask.shape)
        first = np.argmax(mask, axis=2)[..., None]
        same = values == np.take_along_axis(values, first, axis=2)
        return bool((mask & ~same).any()) or self._ends_vary(node, at) or self._rest_varies(node, at)

    def _rest_varies(self, node: Node, at: At) -> bool:
        """Whether the value rests on data that varies, or on a division by data of what varies. The number that stands
        for the data may be larger than all that it divides, so that nothing of it would be seen."""
        values = self._rests.get(node)
        if values is None:
            divisions = _divisions_by_data(self._graph, node)
            values = [argument for division in divisions for argument in division.args]
            values += [part for part, _ in opaque_parts(self._graph, node) if part.op == "opaque"]
            values = self._rests[node] = [v for v in dict.fromkeys(values) if v.bits & THREAD_BITS]
        return any(self.vary(value, at) for value in values)

    def _ends_vary(self, node: Node, at: At) -> bool:
        """Whether the value rests on the length of a loop that each lane leaves by data of its own. Such a length has
        one number for all lanes, which stands for any."""
        loops = [loop for loop, _ in opaque_parts(self._graph, node) if loop.op == "trips"]
        return any(self._is_left_apart(loop, _within(at, loop)) for loop in loops if loop.bits & THREAD_BITS)

    def _is_left_apart(self, loop: Node, at: At) -> bool:
        found = self._apart.get((at, loop))
        if found is None:
            assert isinstance(loop.payload, Node)
            inside = at | {(loop.payload, 0)}
            found = self._apart[at, loop] = any(self.vary(end, inside) for end in self._ends(loop))
        return found

    def _ends(self, loop: Node) -> list[Node]:
        """The data by which lanes leave a loop."""
        found = self._left_by.get(loop)
        if found is None:
            ends = [end for end in conjuncts(self._graph, loop.args[0]) if end.bits & self._graph.opaque_bits]
            ends += [part for end in ends for part, _ in opaque_parts(self._graph, end)]
            found = self._left_by[loop] = [end for end in dict.fromkeys(ends) if end.bits & THREAD_BITS]
        return found
