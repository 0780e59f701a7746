"""Matrix products among what a kernel computes.

Told by what is added up, whatever the source calls it: in one and the same step of the sums, the elements of one array
that are multiplied meet many elements of another one each, and the other way round. Of a product of a matrix and a
vector each element of the matrix meets one; of a stencil each element of the grid meets one weight in each step.

A step is a turn of the innermost loop over which the sums go that loads both elements. If a lane loads `l` elements of
one array and `r` of the other one in it, and adds `a` products, these are `s = l * r / a` terms of each of its sums.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from cudalint.execute.lanes import Extents
from cudalint.execute.memory import Allocation, plain
from cudalint.execute.trace import AccessEvent, Site, Trace
from cudalint.execute.values import Data
from cudalint.facts import MatrixProduct, MatrixProductResult, Place
from cudalint.facts.products import Precision
from cudalint.ir import nodes as ir
from cudalint.kinds import Kind
from cudalint.measure.arrays import Flags, Integers
from cudalint.measure.executed import execute
from cudalint.measure.providers.provider import Run, SiteProvider
from cudalint.measure.work.lengths import Lengths
from cudalint.measure.work.nests import LOOPS
from cudalint.measure.work.sums import SumTerm, sum_terms


class ProductCollector(SiteProvider, eq=False):
    kind: ClassVar[Kind] = "products"
    into: ClassVar[str] = "products"

    def add(self, run: Run) -> None:
        if run.subject.is_over():
            return
        executed = run.executed
        found = list(products(executed.trace, executed.function, run.lengths))
        if any(each.may_be_large and not each.is_large for each in found):
            found = _in_other_blocks(found, run)
        for each in found:
            if each.is_large:
                fact = MatrixProduct(
                    Place(*each.code.span), each.left.name, each.right.name, each.precision, each.is_narrow,
                    each.is_tiled, (),
                )  # fmt: skip
                result = MatrixProductResult(
                    run.index, each.rows, each.columns, each.terms, each.operations, run.launch.assumptions
                )
                self.note(each.key, fact, result)


def _in_other_blocks(found: list[Product], run: Run) -> list[Product]:
    """The same products, with how many elements meet in blocks that were not executed."""
    batch = run.executed.batch
    alone: dict[Key, Product] = {}
    for sample in other_blocks(batch.grid[0]):
        if not run.may_be_tried() or all(each.is_large or not each.may_be_large for each in found):
            break
        elsewhere = execute(run.executed.function, batch.in_blocks(sample.places), run.compiled)
        others = {each.key: each for each in products(elsewhere.trace, elsewhere.function, elsewhere.lengths())}
        alone = alone or others
        found = [
            _larger(each, others[each.key], alone[each.key], sample)
            if each.key in others and each.key in alone else each
            for each in found
        ]  # fmt: skip
    return found


def _larger(one: Product, other: Product, alone: Product, sample: Sample) -> Product:
    count = len(sample.places)
    rows, columns = (
        grown(own, single, count, count * sample.stands_for)
        for own, single in ((other.rows, alone.rows), (other.columns, alone.columns))
    )
    return one._replace(rows=max(one.rows, rows), columns=max(one.columns, columns))


# --- what is multiplied with what ----------------------------------------------------------------------


ENOUGH = 8.0
"""Elements that each one meets: the smallest tile of a tensor core has 8 columns."""
_MOST_CELLS = 1 << 20
"""Pairs of elements that are looked at for each two arrays."""
_LINEAR = 0.9
_BLOCKS = 16
"""Along each axis of the grid."""
_ODD = np.int64(0x5851F42D4C957F2D)


Key = tuple[str, str, Precision]


class Product(NamedTuple):
    """A matrix product in one launch."""

    code: ir.Expr
    left: Allocation
    right: Allocation
    precision: Precision
    is_narrow: bool
    rows: float
    columns: float
    terms: float
    operations: float

    @property
    def is_tiled(self) -> bool:
        return self.left.space == self.right.space == "shared"

    @property
    def is_large(self) -> bool:
        """Whether each element meets many others."""
        return min(self.rows, self.columns) >= ENOUGH

    @property
    def may_be_large(self) -> bool:
        """Whether it may be that other blocks bring the elements that are missing: shared memory is a block's own."""
        return max(self.rows, self.columns) >= ENOUGH and self.left.space == self.right.space == "global"

    @property
    def key(self) -> Key:
        return self.left.name, self.right.name, self.precision


class _Step(NamedTuple):
    """A turn of the loop that both elements are loaded in, in one execution of it."""

    left: list[AccessEvent]
    right: list[AccessEvent]


def products(trace: Trace, kernel: ir.Function, lengths: Lengths, world: int = 0) -> Iterator[Product]:
    """The sums of products that the blocks of a world compute, each pair of arrays once. Not all are large."""
    events: dict[tuple[Any, Any], list[tuple[int, AccessEvent]]] = {}
    for number, event in enumerate(trace.accesses):
        if event.operation == "load" and event.allocation.space in ("global", "shared", "constant") and event.bytes:
            events.setdefault((event.node, event.stack), []).append((number, event))
    groups: dict[tuple[Any, ...], list[SumTerm]] = {}
    for term in sum_terms(kernel, lengths.counted(), lengths.nests):
        sides = [_array(side, events) for side in (term.left, term.right)]
        if term.over and None not in sides:
            groups.setdefault((*map(id, sides), term.precision, term.over), []).append(term)
    for terms in groups.values():
        found = _product(terms, events, trace, lengths, world)
        if found is not None:
            yield found


class Sample(NamedTuple):
    """Blocks of a grid."""

    places: tuple[Extents, ...]
    stands_for: float = 1.0
    """How many times as many blocks lie that far apart."""


def other_blocks(grid: Extents) -> Iterator[Sample]:
    """One in the middle, and others along each axis at various distances: those that share a row or a column may be far
    apart."""
    middle = [extent // 2 for extent in grid]
    yield Sample(((middle[0], middle[1], middle[2]),))
    for axis, extent in enumerate(grid):
        count = min(_BLOCKS, extent)
        steps = [4**power for power in range(extent.bit_length()) if 4**power * count < extent]
        for step in dict.fromkeys((*steps, extent // count)) if count > 1 else ():
            start = max(0, min(middle[axis], extent - count * step))
            places = [list(middle) for _ in range(count)]
            for number, place in enumerate(places):
                place[axis] = start + step * number
            yield Sample(tuple((x, y, z) for x, y, z in places), extent / (step * count))


def grown(own: float, alone: float, count: int, all_: float) -> float:
    """By how many elements one is multiplied in all of something, of which `count` were looked at. Where each of these
    brings as many as one alone, so do those that were left out."""
    return own * all_ / count if own >= _LINEAR * alone * count else own


def _array(sources: Sequence[Any], events: Any) -> Allocation | None:
    """The one that all loads of a factor are of."""
    arrays = {id(event.allocation): event.allocation for source in sources for _, event in events.get(source, ())}
    return next(iter(arrays.values())) if len(arrays) == 1 else None


def _product(terms: list[SumTerm], events: Any, trace: Trace, lengths: Lengths, world: int) -> Product | None:
    over = terms[0].over
    sides = [
        dict.fromkeys(source for term in terms for source in term.left),
        dict.fromkeys(source for term in terms for source in term.right),
    ]
    loaded = [source for side in sides for source in side if source in events]
    inside = [lengths.nests.around(*source) for source in loaded]
    at = max((at for at, loop in enumerate(over) if all(loop in own for own in inside)), default=None)
    if at is None:
        return None
    loop = over[at]
    counted = lengths.counted()
    turns = counted.get(loop._replace(statement=loop.statement.body)) if isinstance(loop.statement, LOOPS) else None
    if turns is None or not turns.counts[1, world]:
        return None
    sites = dict.fromkeys((term.site, term.code) for term in terms)
    done = sum(float(counted[site].counts[1, world]) for site, _ in sites)
    added = done / float(turns.counts[1, world])
    steps = _steps(sides, events, trace, over[: at + 1], lengths)
    around = [each for each in lengths.nests.around(loop.statement, loop.stack) if each not in over and each != loop]
    repeats = float(np.prod([lengths.turns(each) for each in around]))
    met = _met(steps, added, repeats, trace, world)
    if met is None:
        return None
    rows, columns, written_out = met
    both = [events[source][0][1] for source in loaded]
    left, right = (next(events[source][0][1].allocation for source in side if source in events) for side in sides)
    length = written_out * float(np.prod([lengths.turns(each) for each in over[: at + 1]]))
    return Product(
        terms[0].code, left, right, terms[0].precision, all(event.bytes <= 2 for event in both), rows, columns, length,
        2.0 * done,
    )  # fmt: skip


def _steps(sides: Any, events: Any, trace: Trace, over: Sequence[Site], lengths: Lengths) -> list[_Step]:
    """The first step of the sums, in each execution of the loop that it is a turn of."""
    depths = {loop: at for at, loop in enumerate(over)}
    marks: list[tuple[int, int, int]] = []
    for turn in trace.turns:
        at = depths.get(turn.loop)
        if at is not None:
            marks.append((turn.before, at, turn.number))
    wanted = sorted(
        (number, side, event) for side in (0, 1) for source in sides[side] for number, event in events.get(source, ())
    )
    found: list[_Step] = []
    current: list[int] = [-1] * len(over)
    position, step = 0, -1
    by_step: dict[int, _Step] = {}
    for number, side, event in wanted:
        while position < len(marks) and marks[position][0] <= number:
            _, at, turn_number = marks[position]
            current[at] = turn_number
            if at == len(over) - 1:
                step += 1
            position += 1
        if any(current) or step < 0:
            continue
        by_step.setdefault(step, _Step([], []))[side].append(event)
    found.extend(own for own in by_step.values() if own.left and own.right)
    return found


def _met(
    steps: list[_Step], added: float, repeats: float, trace: Trace, world: int
) -> tuple[float, float, float] | None:
    """By how many elements of the left array each one of the right array is multiplied in a step, the other way round,
    and how many terms of a sum a step adds; None where that is not known."""
    lanes = trace.lanes
    own = slice(world * lanes.blocks, (world + 1) * lanes.blocks)
    shape = lanes.rows, lanes.lanes
    is_shared = any(event.allocation.space == "shared" for step in steps for event in (*step.left, *step.right))
    pairs: list[tuple[Integers, Integers]] = []
    written_out, cells = 0.0, 0
    for step in steps:
        sides = []
        for side in step:
            if any(isinstance(event.offset, Data) for event in side):
                return None
            sides.append(_elements(side, shape, own, is_shared))
        (left, left_masks), (right, right_masks) = sides
        lane = np.flatnonzero((left_masks.any(axis=0) & right_masks.any(axis=0)).reshape(-1))
        if not len(lane):
            continue
        at = lane[len(lane) // 2]
        counts = [
            len(np.unique(side.reshape(len(side), -1)[masks.reshape(len(masks), -1)[:, at], at]))
            for side, masks in sides
        ]
        each = counts[0] * counts[1] / added
        rounded = max(1, round(each))
        if abs(each - rounded) > 0.25 * rounded or any(count % rounded for count in counts):
            return None
        written_out = max(written_out, float(rounded))
        cells += left.size * len(right)
        if cells > _MOST_CELLS and pairs:
            break
        mask = left_masks[:, None] & right_masks[None]
        with np.errstate(over="ignore"):
            pairs.append((
                np.broadcast_to(left[:, None], mask.shape)[mask], np.broadcast_to(right[None], mask.shape)[mask]
            ))  # fmt: skip
    if not pairs:
        return None
    alone = _meetings(pairs[:1])
    number = len(pairs)
    rows, columns = (
        grown(own, one, number, max(number, repeats)) for own, one in zip(_meetings(pairs), alone, strict=True)
    )
    return rows / written_out, columns / written_out, written_out


def _meetings(pairs: list[tuple[Integers, Integers]]) -> tuple[float, float]:
    left, right = (np.concatenate(column) for column in zip(*pairs, strict=True))
    with np.errstate(over="ignore"):
        met = len(np.unique(left * _ODD + right))
    return met / len(np.unique(right)), met / len(np.unique(left))


def _elements(events: list[AccessEvent], shape: Any, own: slice, is_shared: bool) -> tuple[Integers, Flags]:
    """[n, rows, lanes] where the elements lie that lanes load, and which lanes do; those of several blocks' shared
    memory are not the same."""
    size = min(4, *(event.bytes for event in events))
    offsets, masks = [], []
    for event in events:
        start = np.broadcast_to(np.asarray(plain(event.offset), np.int64), shape)[own]
        if is_shared:
            start = start + (np.arange(len(start), dtype=np.int64) << 40)[:, None]
        mask = np.broadcast_to(event.mask, shape)[own]
        for part in range(0, event.bytes, size):
            offsets.append(start + part)
            masks.append(mask)
    return np.stack(offsets), np.stack(masks)
