"""Matrix products among what a kernel computes.

Told by what is added up, whatever the source calls it: in one and the same step of the sums, the elements of one array
that are multiplied meet many elements of another one each, and the other way round. Of a product of a matrix and a
vector each element of the matrix meets one; of a stencil each element of the grid meets one weight in each step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.requests.views import LaunchView
from cudalint.evaluate.work.executions import Meter
from cudalint.evaluate.work.terms import Factor, Term, terms_of
from cudalint.facts.products import Precision
from cudalint.hardware.requests import distinct
from cudalint.interpreter.device.events import Loop
from cudalint.interpreter.device.values import Allocation
from cudalint.ir import nodes as ir
from cudalint.values.nodes import Node, bits_of
from cudalint.values.numeric import Rows

_MOST_COPIES = 64
"""Of an unrolled addition that are looked at together."""
_MOST_GROUPS = 4
"""Additions for each pair of arrays that are looked at."""
_BLOCKS = 16
"""Along each axis of the grid, and iterations of loops over elements of the product."""
_MOST_CELLS = 1 << 18
"""Rows times threads."""
_ENOUGH = 8.0
"""Elements that each one meets: the smallest tile of a tensor core has 8 columns."""
_LINEAR = 0.9


class Product(Struct, frozen=True, eq=False):
    """A matrix product in one launch."""

    code: ir.Expr
    left: str
    right: str
    precision: Precision
    is_narrow: bool
    is_tiled: bool
    rows: float
    columns: float
    terms: float
    operations: float


def products_of(execution: Execution, meter: Meter) -> Iterator[Product]:
    """The matrix products that an execution computes, each pair of arrays once."""
    pairs: dict[tuple[object, ...], list[Term]] = {}
    for term in terms_of(execution):
        left, right = _array(term.left, term), _array(term.right, term)
        if left is not None and right is not None:
            pairs.setdefault((left.name, right.name, term.precision), []).append(term)
    for own in pairs.values():
        found = _product(own, execution.view, meter)
        if found is not None:
            yield found


def _array(factor: Factor, term: Term) -> Allocation | None:
    """Whose elements a factor is made of: not those of a scale, which is the same in all terms of a sum."""
    arrays = [(source, source.array) for source in factor if source.array is not None]
    summed = [loop.counter.bits for loop in term.computation.loops if loop.counter.index in term.over]
    moving = [array for source, array in arrays if any(source.place.bits & bits for bits in summed)]
    return next(iter((*moving, *(array for _, array in arrays))), None)


def _product(terms: Sequence[Term], view: LaunchView, meter: Meter) -> Product | None:
    groups: dict[tuple[object, ...], list[Term]] = {}
    for term in terms:
        nest = tuple(loop.counter.index for loop in term.computation.loops)
        groups.setdefault((term.computation.code.span, nest, term.over, term.position), []).append(term)
    largest = sorted(groups.values(), key=len, reverse=True)[:_MOST_GROUPS]
    for group in largest:
        met = _meetings(group[:_MOST_COPIES], view)
        if met is None:
            continue
        first = group[0]
        rows, columns = met
        written_out = len({term.position for term in terms if term.over == first.over})
        left, right = _array(first.left, first), _array(first.right, first)
        assert left is not None and right is not None
        added = {(each.computation.place, each.position): each.computation for each in terms}
        done = (meter.executions(each.loops, each.conditions).lanes for each in added.values())
        sources = [source for factor in (first.left, first.right) for source in factor if source.array is not None]
        return Product(
            first.computation.code, left.name, right.name, first.precision, all(s.bytes <= 2 for s in sources),
            left.space == right.space == "shared", rows, columns, _trips(first, view) * written_out, 2.0 * sum(done),
        )  # fmt: skip
    return None


def _meetings(terms: Sequence[Term], view: LaunchView) -> tuple[float, float] | None:
    """How many elements of the left array each one of the right array meets in one step of the sums, and the other way
    round; None where these are few or not known."""
    first = terms[0]
    sources = [source for term in terms for source in (*term.left, *term.right)]
    is_shared = any(source.array is not None and source.array.space != "global" for source in sources)
    best = alone = (0.0, 0.0)
    for sample in _samples(view.quick().grid, is_shared):
        rows = _rows(view, sample.blocks, first.computation.loops, first.over)
        found = None if rows is None else _met(terms, rows)
        if found is None:
            return None
        alone = alone if any(alone) else found
        # Where each block brings as many as the one alone, so do those that were left out.
        grown = [
            own * sample.stands_for if own >= _LINEAR * one * len(sample.blocks) else own
            for own, one in zip(found, alone, strict=True)
        ]
        best = max(best[0], grown[0]), max(best[1], grown[1])
    return best if min(best) >= _ENOUGH else None


class _Sample(Struct, frozen=True, eq=False):
    blocks: NDArray[np.int64]
    stands_for: float = 1.0
    """How many times as many blocks lie that far apart."""


def _samples(grid: Sequence[int], is_shared: bool) -> Iterator[_Sample]:
    """Blocks: one in the middle, and others along each axis at various distances, as those that share a row or a column
    may be far apart. Shared memory of several blocks is not the same."""
    middle = [extent // 2 for extent in grid]
    yield _Sample(np.array([middle], dtype=np.int64))
    for axis, extent in enumerate(grid if not is_shared else ()):
        count = min(_BLOCKS, extent)
        steps = [4**power for power in range(extent.bit_length()) if 4**power * count < extent]
        for step in dict.fromkeys((*steps, extent // count)) if count > 1 else ():
            blocks = np.tile(np.array(middle, dtype=np.int64), (count, 1))
            start = max(0, min(middle[axis], extent - count * step))
            blocks[:, axis] = start + step * np.arange(count)
            yield _Sample(blocks, extent / (step * count))


def _rows(
    view: LaunchView, blocks: NDArray[np.int64], loops: Sequence[Loop], over: frozenset[int]
) -> Rows | None:
    """One step of the sums in some blocks, with iterations of the loops that go over others."""
    situation = view.quick()
    values: Mapping[Node, int] = {**view.pins}
    rows = Rows(view.graph, situation.threads, blocks, np.ones(len(blocks)), values)
    rows.salt = np.broadcast_to(rows.salt[:1], rows.salt.shape)
    for loop in loops:
        by_lane = situation.lane_trips(rows, loop)
        longest = int(by_lane.max())
        if not longest:
            return None
        room = max(1, _MOST_CELLS // by_lane.size)
        count = 1 if loop.counter.index in over else min(_BLOCKS, longest, room)
        parents = np.repeat(np.arange(rows.count), count)
        start = (longest - count) // 2
        counter = np.tile(np.arange(start, start + count), rows.count)[:, None]
        alive = counter < by_lane[parents]
        rows = rows.child(parents, np.ones(len(parents)), {loop.counter: counter}, alive)
    return rows


def _met(terms: Sequence[Term], rows: Rows) -> tuple[float, float] | None:
    memories: dict[object, int] = {}
    lefts, rights = [], []
    opaque = rows.graph.opaque_bits
    for term in terms:
        conditions = term.computation.conditions
        sources = (*term.left, *term.right)
        nodes = [*conditions, *(source.place for source in sources)]
        if any(condition.bits & opaque for condition in conditions):
            return None
        rows = _fixing(rows, nodes)
        mask = rows.mask(conditions)
        lefts.append(_numbers(term.left, rows, memories)[mask])
        rights.append(_numbers(term.right, rows, memories)[mask])
    left, right = np.concatenate(lefts), np.concatenate(rights)
    if not len(left):
        return None
    pairs = len(distinct(np.sort(left * _ODD + right)))
    return pairs / len(distinct(np.sort(right))), pairs / len(distinct(np.sort(left)))


def _fixing(rows: Rows, nodes: Sequence[Node]) -> Rows:
    """The same rows, in which the counters of loops that are over have a number, too: that of the first iteration."""
    graph = rows.graph
    over = [each for each in graph.atoms(bits_of(nodes), graph.loop_bits) if not rows.fixes(each)]
    return rows.at([(each, 0) for each in over])


_ODD = np.int64(0x5851F42D4C957F2D)


def _numbers(factor: Factor, rows: Rows, memories: dict[object, int]) -> NDArray[np.int64]:
    """[rows, threads] a number for each element that the factor is made of."""
    found: NDArray[np.int64] = np.zeros((1, 1), dtype=np.int64)
    with np.errstate(over="ignore"):
        for source in factor:
            own = rows.integers(source.place) + np.int64(memories.setdefault(source.memory, len(memories)) << 48)
            if source.base is not None:
                own = own + _ODD * rows.integers(source.base)
            found = found * _ODD + own
    return rows.over_lanes(found).astype(np.int64, copy=False)


def _trips(term: Term, view: LaunchView) -> float:
    """The iterations of the loops that a sum goes over."""
    rows = _rows(view, np.array([[extent // 2 for extent in view.quick().grid]], dtype=np.int64), (), frozenset())
    assert rows is not None
    product, situation = 1.0, view.quick()
    for loop in term.computation.loops:
        by_lane = situation.lane_trips(rows, loop)
        longest = int(by_lane.max())
        if loop.counter.index in term.over:
            product *= longest
        rows = rows.at_iteration(loop.counter, max(0, longest // 2))
    return product
