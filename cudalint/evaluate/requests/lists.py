"""Lanes that walk through lists of their own: rows of a sparse matrix, edges of a node, strings.

The address of a gather (`x[index[i]]`) depends on data, and nothing can be said: indices that lie side by side in
memory are often neighbours (the nodes of a mesh, a sorted permutation). It is different where every lane has been sent
to a place of its own before: `list[start[i] + k]` in a loop over `k`, whose lists lie as far apart as they are long,
and `x[list[start[i] + k]]`, whose indices come from different lists; or where every lane has a row of its own, in which
data chooses the column: `x[i * width + column[i]]`. Then random data shows about what real data costs, and the figure
is given as a range.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cudalint.evaluate.execute.events import AccessEvent
from cudalint.evaluate.symbolic.graph import Graph, conjuncts
from cudalint.evaluate.symbolic.nodes import Node
from cudalint.evaluate.symbolic.numeric import Rows
from cudalint.evaluate.symbolic.opaque_parts import opaque_parts, without_data
from cudalint.evaluate.symbolic.varying import Lanes
from cudalint.hardware.sectors import global_request


def follows_own_list(part: Node, event: AccessEvent, rows: Rows, lanes: Lanes) -> bool:
    """Whether `part`, a loaded number in the address of a global access, leads each lane to a list of its own, or comes
    from one. `lanes` are those that make the access."""
    if event.target.space != "global" or part.op != "opaque":
        return False
    return _is_start(part, event, rows, lanes) or _comes_from_list(part, rows.graph, lanes)


def _comes_from_list(part: Node, graph: Graph, lanes: Lanes) -> bool:
    inner = (p for argument in part.args for p, reason in opaque_parts(graph, argument) if reason.data)
    return _is_loaded(part) and any(_is_loaded(p) and lanes.tells_apart(p) for p in inner)


def _is_loaded(part: Node) -> bool:
    """Whether a number is loaded from an address, or what a loop goes through from one loaded number to the next. What
    it comes to otherwise depends on more: lanes that search may end near each other."""
    return len(part.args) == 1 or all(argument.op == "opaque" for argument in part.args[:2])


def _is_start(part: Node, event: AccessEvent, rows: Rows, lanes: Lanes) -> bool:
    """Whether a loop that ends by data takes every lane on from there, element by element or record by record."""
    graph, loops = rows.graph, event.context.loops
    if not loops or part.bits & loops[-1].counter.bits or not event.offset.bits & loops[-1].counter.bits:
        return False
    ends = [c for c in conjuncts(graph, loops[-1].condition) if c.bits & graph.opaque_bits]
    if not any(lanes.vary(end) for end in ends):
        return False
    first, second = (rows.at_iteration(loops[-1].counter, k).full(event.offset) for k in (0, 1))
    # Of numbers packed into one word, those in its upper half are zeros in what stands for it.
    is_lost = bool((first == first[:, :1]).all())
    steps = np.unique(second - first)
    return len(steps) == 1 and steps[0] >= event.bytes and lanes.tells_apart(part) and not is_lost


def stays_in_own_row(event: AccessEvent, rows: Rows, mask: NDArray[np.bool_]) -> bool:
    """Whether the lanes of a global access are two sectors apart before loaded numbers are added to their addresses: in
    rows of 36 bytes, neighbours still meet in a sector often enough (27.8 sectors a request for random columns, as
    measured, and 32.0 in rows of 64 and 400 bytes). `mask`, [rows, warps, 32], has those that make the access."""
    if event.target.space != "global":
        return False
    without = without_data(rows.graph, event.offset)
    if without.bits & rows.graph.opaque_bits or not rows.fixes(without):
        return False
    addresses = rows.full(without).astype(np.int64).reshape(mask.shape)
    pairs, _ = global_request(addresses // 2, mask, 1)
    return bool((pairs == np.count_nonzero(mask, axis=2)).all() and (pairs > 1).any())
