"""Whether the lanes of a warp see different values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cudalint.values.graph import conjuncts
from cudalint.values.nodes import THREAD_BITS, Node
from cudalint.values.numeric import Rows
from cudalint.values.opaque_parts import comparisons_with_data, divisions_by_data, opaque_parts

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
        self._told: dict[Node, bool] = {}
        self._rests: dict[Node, list[Node]] = {}
        self._compared: dict[Node, list[Node]] = {}

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

    def tells_apart(self, node: Node) -> bool:
        """Whether no two active lanes of a warp see the same value, as far as that can be told."""
        found = self._told.get(node)
        if found is None:
            found = self._told[node] = self._rows.fixes(node) and self._are_different(node)
        return found

    def _are_different(self, node: Node) -> bool:
        mask, rows = self.mask, self._rows
        values = np.broadcast_to(rows.value(node), mask.reshape(rows.count, -1).shape).reshape(mask.shape)
        lanes = np.arange(mask.shape[2])
        # Inactive lanes get values of their own, which no other lane has.
        told = np.sort(np.where(mask, values.astype(np.int64), np.iinfo(np.int64).min + lanes), axis=2)
        return bool((told[..., 1:] != told[..., :-1]).all())

    def _vary(self, node: Node, at: At) -> bool:
        if node.op == "opaque":
            return any(self.vary(argument, at) for argument in node.args)
        mask, rows = self.mask, self._rows.at(at)
        if not rows.fixes(node):
            # It is a value inside of a loop that is over, which has no number out here.
            return True
        values = np.broadcast_to(rows.value(node), mask.reshape(rows.count, -1).shape).reshape(mask.shape)
        first = np.argmax(mask, axis=2)[..., None]
        same = values == np.take_along_axis(values, first, axis=2)
        return bool((mask & ~same).any()) or self._ends_vary(node, at) or self._rest_varies(node, at)

    def is_compared(self, node: Node, at: At = frozenset()) -> bool:
        """Whether it is a comparison of data with what varies, or has one in it, as where each lane looks for a key of
        its own. The number that stands for the data may be larger than all keys, so that nothing of it would be seen.
        """
        values = self._compared.get(node)
        if values is None:
            comparisons = comparisons_with_data(self._graph, node)
            found = (argument for comparison in comparisons for argument in comparison.args)
            values = self._compared[node] = [v for v in dict.fromkeys(found) if v.bits & THREAD_BITS]
        return any(self.vary(value, at) for value in values)

    def _rest_varies(self, node: Node, at: At) -> bool:
        """Whether the value rests on data that varies, or on a division by data of what varies. The number that stands
        for the data may be larger than all that it divides, so that nothing of it would be seen."""
        values = self._rests.get(node)
        if values is None:
            divisions = divisions_by_data(self._graph, node)
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
            found = self._apart[at, loop] = any(
                self.vary(end, inside) or self.is_compared(end, inside) for end in self._ends(loop)
            )
        return found

    def _ends(self, loop: Node) -> list[Node]:
        """The data by which lanes leave a loop."""
        found = self._left_by.get(loop)
        if found is None:
            ends = [end for end in conjuncts(self._graph, loop.args[0]) if end.bits & self._graph.opaque_bits]
            ends += [part for end in ends for part, _ in opaque_parts(self._graph, end)]
            found = self._left_by[loop] = [end for end in dict.fromkeys(ends) if end.bits & THREAD_BITS]
        return found
