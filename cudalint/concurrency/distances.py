"""Sizes that bring two accesses together: `a[i + offset]` and `a[i]` are far apart for a large `offset`, and meet where
it is the distance between two threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cudalint.concurrency.conflicts import clash
from cudalint.concurrency.lanes import effect
from cudalint.concurrency.left_out import on_sizes
from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.requests.situations import mask_of
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import Touch
from cudalint.values.arithmetic import I8
from cudalint.values.assumptions import holds
from cudalint.values.graph import Graph
from cudalint.values.nodes import BLOCK_BITS, THREAD_BITS, Node, Uniform
from cudalint.values.numeric import Rows
from cudalint.values.polynomial import Terms, terms_of

_MOST_TOUCHES = 24
"""Accesses of an array that are compared: unrolled loops have many alike."""
_MOST_TRIED = 64
_FAR = (1 << 31) - 1
_MOST = 2
"""Sizes that are looked at for one kernel."""


class _Pair(Struct, frozen=True, eq=False):
    """A store and another access that are apart by a size."""

    first: Touch
    second: Touch
    size: Node
    bytes: int
    """What the size is multiplied by in their distance."""


@heuristic("meeting-distances", "GPUVerify's cases: `a[i + offset]` meets `a[i]`").otherwise([])
def meetings(execution: Execution, arrays: Sequence[Sequence[Touch]]) -> list[dict[Node, int | float]]:
    """Values of single sizes under which a store and another access to the same array, which differ by a multiple of
    that size, meet in two threads of a block. The sizes of a visible launch are what they are for, and large, unless
    the program says how small they may be."""
    found: dict[Node, int | float] = {}
    launched = execution.launch.source == "launch-site"
    for touches in arrays:
        for pair in _apart(execution, touches[:_MOST_TOUCHES]):
            size = pair.size
            if size in found or len(found) >= _MOST:
                continue
            if not launched or is_in_range(size, execution):
                number = _allowed(execution, touches, size, _values(execution, pair))
                if number is not None:
                    found[size] = number
    return [{size: number} for size, number in found.items()]


def is_in_range(symbol: Node, execution: Execution) -> bool:
    """Whether the program or its user states a least and a greatest value: it works for all in between."""
    graph = execution.view.graph
    stated = [c for c in execution.view.assumed if c.bits == symbol.bits]
    ends = (_FAR, -_FAR) if symbol.kind.code == "i" else (_FAR,)
    return bool(stated) and not any(all(holds(graph, c, {symbol: end}) for c in stated) for end in ends)


def _apart(execution: Execution, touches: Sequence[Touch]) -> Iterator[_Pair]:
    """A store and another access, for each way in which two may be apart by a size."""
    graph = execution.view.graph
    if not any(touch.offset.bits & graph.uniform_bits for touch in touches):
        return
    terms = [terms_of(graph, touch.offset) for touch in touches]
    seen: set[object] = set()
    for first, a in zip(touches, terms, strict=True):
        if effect(first) == "load":
            continue
        for second, b in zip(touches, terms, strict=True):
            step = _difference(graph, a, b)
            ends = (a.get((), graph.zero), b.get((), graph.zero), first.context.conditions, second.context.conditions)
            if step is None or (step, ends) in seen or not clash(first, second):
                continue
            seen.add((step, ends))
            yield _Pair(first, second, *step)


def _difference(graph: Graph, a: Terms, b: Terms) -> tuple[Node, int] | None:
    """The one size by which two addresses differ, and what it is multiplied by."""
    found: tuple[Node, int] | None = None
    for monomial in {**a, **b}:
        one, other = a.get(monomial, graph.zero), b.get(monomial, graph.zero)
        if not monomial or one is other:
            continue
        factor = graph.binary("-", other, one, I8)
        is_plain = len(monomial) == 1 and isinstance(monomial[0].payload, Uniform)
        if found is not None or not is_plain or not factor.is_const:
            return None
        found = monomial[0], int(factor.value)
    return found


def _values(execution: Execution, pair: _Pair) -> list[int]:
    """Values of the size under which two different threads of a block meet: smaller ones first."""
    touches, step = (pair.first, pair.second), pair.bytes
    ends = [place for place in (_places(execution, touch) for touch in touches) if place is not None]
    if len(ends) < 2:
        return []
    (threads, a), (others, b) = ends
    apart = (a[:, None] - b[None, :])[threads[:, None] != others[None, :]]
    distances = np.unique(apart[apart % step == 0] // step)
    distances = distances[distances != 0]
    return [int(d) for d in distances[np.argsort(np.where(distances > 0, distances, 2 * abs(distances)))]]


def _places(execution: Execution, touch: Touch) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """[active threads] of the first block: their numbers, and their bytes but for what sizes add. Those of any
    iteration count as active: what comes of it is tried afterwards."""
    graph = execution.view.graph
    own = terms_of(graph, touch.offset).get((), graph.zero)
    if own.bits & ~(THREAD_BITS | BLOCK_BITS):
        return None
    rows = Rows.of_one_block(graph, {}, execution.view.block)
    mask = mask_of(rows, [c for c in touch.context.conditions if not c.bits & graph.loop_bits])[0]
    bytes_ = np.broadcast_to(np.asarray(rows.value(own), dtype=np.int64), (1, len(mask)))[0]
    active = np.flatnonzero(mask)
    return active, bytes_[active]


def _allowed(
    execution: Execution, touches: Sequence[Touch], size: Node, numbers: Sequence[int]
) -> int | None:
    """The first value that nothing speaks against: no statement about the sizes, no condition on the way."""
    graph = execution.view.graph
    stated = [c for c in execution.view.assumed if c.bits & size.bits]
    conditions = [c for touch in touches for c in on_sizes(touch, graph) if c.bits & size.bits]
    for number in numbers[:_MOST_TRIED]:
        values: Mapping[Node, int | float] = {size: number}
        if all(holds(graph, condition, values) for condition in (*stated, *dict.fromkeys(conditions))):
            return number
    return None
