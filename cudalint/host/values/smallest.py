"""The smallest numbers of open symbols for which conditions hold.

Boxes of numbers are halved along their widest side, the box with the smallest corner first; those in which a condition
holds for none are left out (`ranges.py`). The first corner for which all hold is the smallest: nothing is guessed, and
where no numbers are found within the work that this may take, nothing is said.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence

from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, bits_of
from cudalint.host.values.ranges import Range, Ranges
from cudalint.ir.kept import kept

_MOST_BOXES = 400
"""Each takes as many steps as conditions have nodes."""
_MOST_SYMBOLS = 4
_Box = tuple[tuple[int, int], ...]


def smallest(
    graph: Graph, conditions: Sequence[Node], boxes: Mapping[Node, tuple[int, int]]
) -> dict[Node, int] | None:
    """Numbers for the symbols that conditions depend on, each of its box; None where there are none, or where it takes
    too long to tell. Boxes hold no negative numbers."""
    bits = bits_of(conditions)
    own = tuple((symbol, box) for symbol, box in boxes.items() if symbol.bits & bits)
    return _found(graph, tuple(conditions), own) if len(own) <= _MOST_SYMBOLS else None


@kept(512)
def _found(
    graph: Graph, conditions: Sequence[Node], boxes: Sequence[tuple[Node, tuple[int, int]]]
) -> dict[Node, int] | None:
    symbols = [symbol for symbol, _ in boxes]
    whole = tuple(box for _, box in boxes)
    if not _may_hold(graph, conditions, symbols, whole):
        return None
    for first in (*_lines(whole), whole):
        found = _smallest_in(graph, conditions, symbols, first)
        if found is not None:
            return dict(zip(symbols, found, strict=True))
    return None


def _lines(box: _Box) -> Iterator[_Box]:
    """The parts in which all sides but one are as small as they can be: of `rows * columns` there is a long border of
    smallest numbers, and one of its ends stands for all."""
    for open_ in range(len(box)) if len(box) > 1 else ():
        yield tuple(side if number == open_ else (side[0], side[0]) for number, side in enumerate(box))


def _smallest_in(
    graph: Graph, conditions: Sequence[Node], symbols: Sequence[Node], first: _Box
) -> tuple[int, ...] | None:
    pending: list[tuple[float, _Box]] = [(_size(first), first)]
    for _ in range(_MOST_BOXES):
        if not pending:
            return None
        box = heapq.heappop(pending)[1]
        corner = tuple((low, low) for low, _ in box)
        if _all_hold(graph, conditions, symbols, corner):
            return tuple(low for low, _ in box)
        for half in _halves(box):
            if _may_hold(graph, conditions, symbols, half):
                heapq.heappush(pending, (_size(half), half))
    return None


def _of(graph: Graph, symbols: Sequence[Node], box: _Box) -> Ranges:
    own: dict[Node, Range] = dict(zip(symbols, box, strict=True))
    return Ranges(graph, own)


def _may_hold(graph: Graph, conditions: Sequence[Node], symbols: Sequence[Node], box: _Box) -> bool:
    ranges = _of(graph, symbols, box)
    return all(ranges.of(condition)[1] == 1 for condition in conditions)


def _all_hold(graph: Graph, conditions: Sequence[Node], symbols: Sequence[Node], box: _Box) -> bool:
    ranges = _of(graph, symbols, box)
    return all(ranges.of(condition) == (1, 1) for condition in conditions)


def _size(box: _Box) -> float:
    """Of sizes that may differ by orders of magnitude."""
    return sum(math.log2(1 + max(0, low)) for low, _ in box)


def _halves(box: _Box) -> list[_Box]:
    """Of a box whose smallest corner is none of those that are sought."""
    widths = [math.log2(1 + high) - math.log2(1 + max(0, low)) for low, high in box]
    widest = widths.index(max(widths)) if widths else None
    if widest is None or not widths[widest]:
        return []
    low, high = box[widest]
    middle = max(low, min(high - 1, math.isqrt((low + 1) * (high + 1)) - 1))
    return [(*box[:widest], part, *box[widest + 1 :]) for part in ((low, middle), (middle + 1, high))]
