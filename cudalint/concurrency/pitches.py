"""Sizes that threads or blocks are multiplied by: how long a row is, in a grid made for rows of some length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cudalint.evaluate.requests.execution import Execution
from cudalint.heuristics import heuristic
from cudalint.values.nodes import BLOCK_BITS, THREAD_BITS, Node, below, bits_of

_PLACE_BITS = THREAD_BITS | BLOCK_BITS


@heuristic("other-grids", "grids made for rows of one length").otherwise(False)
def is_another_grid(values: Mapping[Node, int | float], nodes: Iterable[Node], execution: Execution) -> bool:
    """Whether values say how long the rows are in some addresses or conditions, and a visible launch makes its grid
    from other sizes, which nobody gives: what they have to do with each other is not known, and a large grid is not
    one for short rows."""
    if execution.launch.source != "launch-site":
        return False
    bits = bits_of(execution.view.grid)
    if not bits & execution.view.graph.uniform_bits:
        return False
    others = [symbol for symbol in values if not symbol.bits & bits]
    nodes = tuple(nodes)
    return any(_is_pitch(symbol, nodes) for symbol in others)


def _is_pitch(symbol: Node, nodes: Iterable[Node]) -> bool:
    return any(node.op == "*" and _tells_rows(symbol, *node.args) for node in below(nodes, symbol.bits))


def _tells_rows(symbol: Node, a: Node, b: Node) -> bool:
    return bool((a.bits & symbol.bits and b.bits & _PLACE_BITS) or (b.bits & symbol.bits and a.bits & _PLACE_BITS))
