"""Which blocks of a grid are executed, and how many each of them stands for.

Blocks are equivalent if all conditions that their place goes into come out the same for their threads: of those a few
are enough. A condition holds for all threads of a block, for none, or for some; blocks of the last kind are equivalent
only if they reach as far across the border, as the last one does of a grid that is larger than the data.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.worlds.arrays import distinct, numbered
from cudalint.worlds.intervals import Counted, Definitions, Interval, Intervals
from cudalint.worlds.records import Parameter
from cudalint.worlds.uses import Uses

if TYPE_CHECKING:
    from cudalint.execute.lanes import Extents

MOST_ROWS = 64
"""Blocks that are executed in all worlds together."""
_MOST_BLOCKS, _FEWEST_BLOCKS = 24, 8
"""In one of them."""
_EQUIVALENT = 8
"""Of blocks that are equivalent: their addresses may begin at as many places of a sector."""
_MOST_CELLS = 2048
"""Parts of a grid that conditions are looked at in."""
_MOST_BREAKS, _FINER = 32, 32
"""Where conditions change along an axis, and the parts in which they are looked for."""
_COMPARING = ("<", "<=", ">", ">=", "==", "!=")
_GOLDEN = (5**0.5 - 1) / 2
"""Places at its multiples, taken modulo 1, have no period in common with any extent."""

Sampled = list[tuple["Extents", float]]


def most_blocks(worlds: int) -> int:
    """In each of so many worlds."""
    return max(_FEWEST_BLOCKS, min(_MOST_BLOCKS, MOST_ROWS // worlds))


class _Cells(NamedTuple):
    """Parts of a grid with places in them."""

    places: Any
    """[cells, 3]"""
    weights: Any
    """How many blocks there are in each."""


class BlockConditions:
    """The conditions of a kernel that the place of a block goes into."""

    def __init__(self, uses: Uses, definitions: Definitions) -> None:
        self._origins, self._definitions = uses.origins, definitions
        self._compared: list[tuple[ir.Expr, ir.Expr]] = []
        self._asked: list[ir.Expr] = []
        self._loops: list[Counted] = []
        self._read: dict[frozenset[Parameter], tuple[Parameter, ...]] = {}
        """The numbers that the conditions look at, of those that a launch has."""
        self._sampled: dict[Any, Sampled] = {}
        counted = {loop.condition for loop in self._definitions.loops}
        for node in uses.code.nodes:
            match node:
                case st.For() if node in self._definitions.loops:
                    loop = self._definitions.loops[node]
                    if self._is_of_block(loop.start) or self._is_of_block(loop.bound) or self._is_of_block(loop.step):
                        self._loops.append(loop)
                case ir.Binary(op=op) if op in _COMPARING and node not in counted:
                    self._compare(node.left, node.right)
                case ir.Call(name="min" | "max") if len(node.arguments) == 2:
                    self._compare(*node.arguments)
                case st.If() | ir.Conditional() | st.While() | st.DoWhile() | st.Switch():
                    condition = node.condition
                    is_compared = isinstance(condition, ir.Binary) and condition.op in (*_COMPARING, "&&", "||")
                    if not is_compared and self._is_of_block(condition):
                        self._asked.append(condition)

    def _compare(self, left: ir.Expr, right: ir.Expr) -> None:
        if self._is_of_block(left) or self._is_of_block(right):
            self._compared.append((left, right))

    def _is_of_block(self, expression: ir.Expr) -> bool:
        return "block" in self._origins.of(expression).varies

    def states(self, intervals: Intervals, count: int) -> Any:
        """[blocks, 2 * conditions]: for each what comes out of it, and, if that is not the same for all threads, how
        the block lies."""
        columns: list[Any] = []
        with np.errstate(all="ignore"):
            for loop in self._loops:
                columns += _of_loop(loop, intervals)
            for left, right in self._compared:
                one, other = intervals.of(left), intervals.of(right)
                if one is not None and other is not None:
                    columns += _of_difference((one[0] - other[1], one[1] - other[0]))
            for condition in self._asked:
                own = intervals.of(condition)
                if own is not None:
                    columns += [np.where(own[0] == own[1], own[0], np.inf), np.where(own[0] == own[1], 0, own[0])]
        if not columns:
            return np.zeros((count, 0))
        return np.stack([np.broadcast_to(column, count) for column in columns], axis=1)

    def sampled(
        self, values: Mapping[Parameter, Any], block: Extents, grid: Extents, most: int
    ) -> Sampled:
        """At most so many blocks of a grid, with how many each of them stands for."""
        own = {parameter: float(value) for parameter, value in values.items()}
        given = frozenset(own)
        if given not in self._read:
            numbers = _Read(own)
            self.states(self._intervals(numbers, block, grid, np.zeros((1, 3))), 1)
            self._read[given] = tuple(numbers.read)
        # Worlds often differ by nothing that matters here, and each is asked about in several batches.
        read = self._read[given]
        key = read, tuple(own[parameter] for parameter in read), block, grid, most
        found = self._sampled.get(key)
        if found is None:
            found = self._sampled[key] = self._sample(own, block, grid, most)
        return found

    def _intervals(self, values: Mapping[Parameter, float], block: Extents, grid: Extents, places: Any) -> Intervals:
        axes = [(places[:, axis], places[:, axis]) for axis in range(3)]
        return Intervals(self._origins, self._definitions, values, block, [float(extent) for extent in grid], axes)

    def _sample(self, values: Mapping[Parameter, float], block: Extents, grid: Extents, most: int) -> Sampled:
        def states(places: Any) -> Any:
            return self.states(self._intervals(values, block, grid, places), len(places))

        cells, wide = _cells(grid, states), [axis for axis in range(3) if grid[axis] > 1]
        x, y, z = grid
        ends = [(0, 0, 0), (x - 1, y - 1, z - 1)]
        beside = [(int(axis == 0), int(axis == 1), int(axis == 2)) for axis in wide]
        asked = list(dict.fromkeys([*ends, *beside]))
        found = _chosen(cells, states(cells.places), max(1, most - len(asked)))
        return _with(found, asked, states)


class _Read(dict[Parameter, float]):
    """Numbers, with which of them were looked at. These are the same whatever they are: intervals look at all parts of
    an expression."""

    def __init__(self, numbers: Mapping[Parameter, float]) -> None:
        super().__init__(numbers)
        self.read: dict[Parameter, None] = {}

    def __getitem__(self, parameter: Parameter) -> float:
        self.read[parameter] = None
        return super().__getitem__(parameter)


def _of_difference(difference: Interval) -> list[Any]:
    low, high = difference
    # 1 and -1: all are above, or below; 0: all are equal.
    state = np.where(low > 0, 1, np.where(high < 0, -1, np.where((low == 0) & (high == 0), 0, 2)))
    return [state, np.where(state == 2, low, 0)]


def _of_loop(loop: Counted, intervals: Intervals) -> list[Any]:
    start, bound, step = (intervals.of(part) for part in (loop.start, loop.bound, loop.step))
    if start is None or bound is None or step is None or np.any(step[0] != step[1]) or np.any(step[0] <= 0):
        return []
    inside = 1 if loop.op in ("<=", ">=") else 0
    first, last = (bound, start) if loop.is_up else (start, bound)
    fewest, most = (
        np.maximum(0, np.ceil((end + inside) / step[0])) for end in (first[0] - last[1], first[1] - last[0])
    )
    is_same = fewest == most
    return [np.where(is_same, fewest, -1), np.where(is_same, 0, first[0] - last[1])]


# --- parts of the grid -----------------------------------------------------------------------------------------


def _cells(grid: Extents, states: Any) -> _Cells:
    """All blocks, or so many parts of a large grid, which end where conditions change."""
    if int(np.prod([float(extent) for extent in grid])) <= _MOST_CELLS:
        z, y, x = np.meshgrid(*(np.arange(extent) for extent in reversed(grid)), indexing="ij")
        places = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1).astype(np.float64)
        return _Cells(places, np.ones(len(places)))
    wide = [axis for axis in range(3) if grid[axis] > 1]
    each = int(_MOST_CELLS ** (1 / len(wide)))
    axes = [_segments(grid, axis, states, each) for axis in range(3)]
    lengths = [np.diff([*starts, extent]) for starts, extent in zip(axes, grid, strict=True)]
    numbers = [np.arange(len(starts)) for starts in axes]
    z, y, x = (n.ravel() for n in np.meshgrid(*reversed(numbers), indexing="ij"))
    weights = lengths[0][x] * lengths[1][y] * lengths[2][z]
    # Somewhere in its part, each in another place.
    shares = np.arange(len(x)) * _GOLDEN % 1
    parts = zip(axes, lengths, (x, y, z), strict=True)
    places = np.stack([starts[own] + np.floor(shares * length[own]) for starts, length, own in parts], axis=1)
    return _Cells(places, weights.astype(np.float64))


def _segments(grid: Extents, axis: int, states: Any, most: int) -> Any:
    """Where parts begin along an axis: evenly spread, and where a condition changes in the first blocks or the last
    ones along the other axes."""
    extent = grid[axis]
    if extent <= most:
        return np.arange(extent, dtype=np.float64)
    others = [other for other in range(3) if other != axis]
    corners = list(itertools.product(*(sorted({0, grid[other] - 1}) for other in others)))

    def along(coordinates: Any) -> Any:
        places = np.zeros((len(corners), len(coordinates), 3))
        places[:, :, axis] = coordinates
        places[:, :, others] = np.array(corners, np.float64)[:, None]
        own = states(places.reshape(-1, 3))
        return np.concatenate(np.split(own, len(corners)), axis=1)

    even = distinct(np.floor(np.linspace(0, extent - 1, most // 2)))
    own = along(even)
    places = np.flatnonzero((own[1:] != own[:-1]).any(axis=1))
    lows, highs = even[places], even[places + 1]
    breaks: list[Any] = []
    # Where they change everywhere nothing is gained by knowing where exactly.
    while 0 < len(lows) <= _MOST_BREAKS:
        inside = np.floor(lows[:, None] + (highs - lows)[:, None] * np.linspace(0, 1, _FINER + 1))
        states_there = along(inside.ravel()).reshape(*inside.shape, -1)
        pairs, places = np.nonzero((states_there[:, 1:] != states_there[:, :-1]).any(axis=2))
        lows, highs = inside[pairs, places], inside[pairs, places + 1]
        is_found = highs - lows <= 1
        breaks.append(highs[is_found])
        lows, highs = lows[~is_found], highs[~is_found]
    return distinct(np.concatenate([[0.0, extent - 1.0], even, *breaks]))[: 2 * most]


# --- choice ----------------------------------------------------------------------------------------------------


def _chosen(cells: _Cells, states: Any, most: int) -> Sampled:
    which = numbered(states)
    count = int(which.max()) + 1
    # Groups of equivalent blocks in order, as far as there is room: many are taken together with their neighbours.
    together = np.arange(count) if count <= most else np.arange(count) * most // count
    group = together[which]
    weights = np.bincount(group, cells.weights)
    sizes = np.bincount(group)
    wanted = np.minimum(sizes, _EQUIVALENT)
    shares = np.ones(len(weights), np.int64)
    for _ in range(most - len(shares)):
        # The largest of what one stands for is divided.
        left = np.where(shares < wanted, weights / shares, 0)
        if not left.any():
            break
        shares[int(left.argmax())] += 1
    found: dict[Extents, float] = {}
    for number in range(len(weights)):
        own = np.flatnonzero(group == number)
        if count > most:
            # Those of the largest group among those that are taken together stand for it.
            own = own[np.lexsort((own, which[own]))]
        for place, weight in _strata(cells, own, int(shares[number])):
            found[place] = found.get(place, 0.0) + weight
    return sorted(found.items(), key=lambda each: each[0][::-1])


def _with(found: Sampled, asked: Sequence[Extents], states: Any) -> Sampled:
    """With the first block and the last, which are the ones that leave arrays if any do, and the blocks beside the
    first one, which share with it what lies between blocks. Each stands for itself, or for half of what the block does
    that it is taken from: one for which conditions come out the same, as long as there is any."""
    weights = dict(found)
    for place in asked:
        if place in weights:
            continue
        places = list(weights)
        own = states(np.array([place, *places], np.float64))
        equivalent = [other for other, state in zip(places, own[1:], strict=True) if np.array_equal(state, own[0])]
        donor = max(equivalent or places, key=lambda other: weights[other])
        if weights[donor] <= 1:
            continue
        share = min(1.0, weights[donor] / 2)
        weights[donor] -= share
        weights[place] = share
    return sorted(weights.items(), key=lambda each: each[0][::-1])


def _strata(cells: _Cells, own: Any, shares: int) -> Iterator[tuple[Extents, float]]:
    """The last block, one where they begin, and some between. Where rows begin in a sector goes by a block's number
    modulo a power of two: their numbers are spread over those, first over even distances from the last one, which come
    to each place as often as all distances do."""
    weights, places = cells.weights[own], cells.places[own]
    total, ends, left = weights.sum(), np.cumsum(weights), [list(_SPREAD[:shares]) for _ in range(places.shape[1])]
    found: list[tuple[Extents, float]] = []
    for number in sorted(range(shares), key=lambda each: (each != shares - 1, each)):
        low, high = total * number / shares, total * (number + 1) / shares
        place = int(np.searchsorted(ends, low + (number * _GOLDEN + 0.5) % 1 * (high - low), side="right"))
        if shares > 1 and number in (0, shares - 1):
            place = 0 if not number else len(own) - 1
        first, last = (min(int(each), len(own) - 1) for each in np.searchsorted(ends, (low, high), side="left"))
        near = np.arange(first, last + 1) if found else np.array([min(place, len(own) - 1)])
        distances = (places[near] - found[0][0] if found else places[near] * 0) % len(_SPREAD)
        misses = [~np.isin(own, wanted) for own, wanted in zip(distances.T, left, strict=True)]
        best = int(np.lexsort((np.abs(near - place), *misses))[0])
        for wanted, distance in zip(left, distances[best].tolist(), strict=True):
            if distance in wanted:
                wanted.remove(distance)
        found.append((places[near[best]], float(high - low)))
    for at, weight in found:
        x, y, z = (int(each) for each in at)
        yield (x, y, z), weight


_SPREAD = (0, 4, 2, 6, 1, 5, 3, 7)
"""Distances between blocks, modulo the words of a sector."""
