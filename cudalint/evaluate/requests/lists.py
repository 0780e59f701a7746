"""Lanes that walk through lists of their own: rows of a sparse matrix, edges of a node, strings.

The address of a gather (`x[index[i]]`) depends on data, and nothing can be said: indices that lie side by side in
memory are often neighbours (the nodes of a mesh, a sorted permutation). It is different where every lane has been sent
to a place of its own before: `list[start[i] + k]` in a loop over `k`, whose lists lie as far apart as they are long,
and `x[list[start[i] + k]]`, whose indices come from different lists; or where every lane has a row of its own, in which
data chooses the column: `x[i * width + column[i]]`. Then random data shows about what real data costs, and the figure
is given as a range."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from cudalint.hardware.sectors import global_request
from cudalint.heuristics import heuristic
from cudalint.interpreter.device.events import AccessEvent
from cudalint.values.graph import Graph, conjuncts
from cudalint.values.nodes import Node
from cudalint.values.numeric import Rows
from cudalint.values.opaque_parts import opaque_parts, without_data
from cudalint.values.varying import Lanes


class Lists:
    """What the lanes of an access walk through, for all of the loaded numbers in its address: what does not depend on
    which of them is asked about is found out once."""

    def __init__(self, event: AccessEvent, rows: Rows, lanes: Lanes) -> None:
        """`lanes` are those that make the access."""
        self._event, self._rows, self._lanes = event, rows, lanes

    @heuristic("own-lists", "counters of sparse matrices and graphs").otherwise(False)
    def are_own(self, part: Node) -> bool:
        """Whether `part`, a loaded number in the address of a global access, leads each lane to a list of its own, or
        comes from one."""
        if self._event.target.space != "global" or part.op != "opaque":
            return False
        return self.are_starts(part) or _comes_from_list(part, self._rows.graph, self._lanes)

    def are_starts(self, part: Node) -> bool:
        """Whether a loop that ends by data takes every lane on from there, element by element or record by record."""
        loops = self._event.context.loops
        if not loops or part.bits & loops[-1].counter.bits:
            return False
        return self._are_walked and self._lanes.tells_apart(part)

    @cached_property
    def _are_walked(self) -> bool:
        event, rows, loop = self._event, self._rows, self._event.context.loops[-1]
        if not event.offset.bits & loop.counter.bits:
            return False
        ends = [c for c in conjuncts(rows.graph, loop.condition) if c.bits & rows.graph.opaque_bits]
        if not any(self._lanes.vary(end) for end in ends):
            return False
        first, second = (rows.at_iteration(loop.counter, k).full(event.offset) for k in (0, 1))
        # Of numbers packed into one word, those in its upper half are zeros in what stands for it.
        is_lost = bool((first == first[:, :1]).all())
        steps = np.unique(second - first)
        return len(steps) == 1 and steps[0] >= event.bytes and not is_lost

    @cached_property
    def are_rows(self) -> bool:
        """Whether the lanes of a global access are two sectors apart before loaded numbers are added to their
        addresses: in rows of 36 bytes, neighbours still meet in a sector often enough (27.8 sectors a request for
        random columns, as measured, and 32.0 in rows of 64 and 400 bytes)."""
        rows, mask = self._rows, self._lanes.mask
        if self._event.target.space != "global":
            return False
        without = without_data(rows.graph, self._event.offset)
        if without.bits & rows.graph.opaque_bits or not rows.fixes(without):
            return False
        addresses = rows.integers(without).reshape(mask.shape)
        pairs, _ = global_request(addresses // 2, mask, 1)
        return bool((pairs == np.count_nonzero(mask, axis=2)).all() and (pairs > 1).any())


def _comes_from_list(part: Node, graph: Graph, lanes: Lanes) -> bool:
    inner = (p for argument in part.args for p, reason in opaque_parts(graph, argument) if reason.data)
    return _is_loaded(part) and any(_is_loaded(p) and lanes.tells_apart(p) for p in inner)


def _is_loaded(part: Node) -> bool:
    """Whether a number is loaded from an address, or what a loop goes through from one loaded number to the next. What
    it comes to otherwise depends on more: lanes that search may end near each other."""
    return len(part.args) == 1 or all(argument.op == "opaque" for argument in part.args[:2])
