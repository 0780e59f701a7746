"""Where a grid that is larger than its work ends to have any: the blocks at which a condition changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from cudalint.evaluate.requests.situations import mask_of
from cudalint.hardware.requests import distinct
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import Loop
from cudalint.values.graph import Graph
from cudalint.values.nodes import BLOCK_BITS, Node
from cudalint.values.numeric import Rows
from cudalint.values.threads import Threads

Edges = tuple[tuple[int, ...], ...]
"""Along x, y and z: the blocks before and after each change."""
_POINTS = 33
"""Blocks that are compared at once, between which each change is looked for."""
_MOST = 4
"""Changes along one axis. Where there are more, every block differs from the next, and any choice of them is fair."""


@heuristic("edges-of-grids", "grids larger than their work: the blocks where a guard changes").otherwise(((), (), ()))
def edges_of(graph: Graph, threads: Threads, grid: Sequence[int], conditions: Iterable[Node]) -> Edges:
    """The blocks on both sides of each change of what conditions let through; those on several axes are left out."""
    known = of_blocks(graph, conditions)
    by_axis = [[c for c in known if c.bits & BLOCK_BITS == 8 << axis] for axis in range(3)]
    return tuple(
        _changes(_Axis(graph, threads, axis, own), extent) if own else ()
        for axis, (own, extent) in enumerate(zip(by_axis, grid, strict=True))
    )


def of_blocks(graph: Graph, conditions: Iterable[Node]) -> tuple[Node, ...]:
    """The conditions that tell blocks apart, whatever iterations and data are."""
    unknown = graph.loop_bits | graph.opaque_bits
    return tuple(c for c in conditions if c.bits & BLOCK_BITS and not c.bits & unknown)


def of_first_turns(graph: Graph, loops: Iterable[Loop]) -> tuple[Node, ...]:
    """What has to hold for blocks to come into loops at all: a grid-stride loop has none for those behind its end."""
    entered = (loop for loop in loops if loop.condition.bits & BLOCK_BITS)
    return tuple(
        graph.substitute(loop.condition, {loop.counter: graph.const(0, loop.counter.kind)}) for loop in entered
    )


class _Axis:
    """What some conditions let through in the blocks along one axis."""

    def __init__(self, graph: Graph, threads: Threads, axis: int, conditions: Sequence[Node]) -> None:
        self._graph, self._threads, self._axis, self._conditions = graph, threads, axis, conditions

    def masks(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        blocks = np.zeros((len(places), 3), dtype=np.int64)
        blocks[:, self._axis] = places
        rows = Rows(self._graph, self._threads, blocks, np.ones(len(places)), {})
        return mask_of(rows, self._conditions)


def _changes(axis: _Axis, extent: int) -> tuple[int, ...]:
    found: set[int] = set()
    pending = [(0, extent - 1)]
    while pending:
        first, last = pending.pop()
        places = distinct(np.linspace(first, last, _POINTS).astype(np.int64))
        masks = axis.masks(places)
        for at in np.flatnonzero((masks[1:] != masks[:-1]).any(axis=1)):
            before, after = int(places[at]), int(places[at + 1])
            if after == before + 1:
                found |= {before, after}
            else:
                pending.append((before, after))
        if len(pending) > _MOST or len(found) > 2 * _MOST:
            return ()
    return tuple(sorted(found))
