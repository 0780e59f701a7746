"""How far a grid falls short of what its kernel lets through, as a value of the host code's sizes.

`(n + 255) / 256` blocks of 256 come to `n + 255 - (n + 255) % 256` elements; of `n` they leave out
`(n + 255) % 256 - 255`, which is never more than 0. Written so, with the size gone, it can be told for all sizes at
once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from cudalint.host.values.arithmetic import BOOL, I8
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, below, without_cast
from cudalint.host.values.polynomial import linear
from cudalint.launches.admitted import Limit

_MOST_DEPTH = 8


def shortfall(graph: Graph, extent: Node, limit: Limit) -> Node:
    """How many elements from the first one of the block behind the last on are let through; none where it is negative
    or 0."""
    return _short(graph, extent, limit, 0)


def _short(graph: Graph, extent: Node, limit: Limit, depth: int) -> Node:
    bare = _whole(extent)
    if depth < _MOST_DEPTH:
        if bare.op == "select":
            sides = (_short(graph, each, limit, depth + 1) for each in bare.args[1:])
            return graph.select(bare.args[0], *sides)
        if bare.op in ("min", "max"):
            one, other = (_short(graph, each, limit, depth + 1) for each in bare.args)
            return graph.binary("max" if bare.op == "min" else "min", one, other, I8)
    terms = _Terms()
    terms.add(graph.binary("-", graph.convert(limit.bound, I8), graph.convert(limit.rest, I8), I8), 1)
    factors, constant = linear(bare)
    terms.constant -= limit.step * constant
    for node, factor in sorted(factors, key=lambda each: each[0].index):
        _take(graph, terms, node, limit.step * factor)
    return terms.node(graph)


def _whole(extent: Node) -> Node:
    """Without conversions between integers."""
    while extent.op == "cast" and not extent.args[0].kind.is_float:
        extent = extent.args[0]
    return extent


class _Terms:
    """A sum."""

    def __init__(self) -> None:
        self.factors: dict[Node, int] = {}
        self.constant = 0

    def add(self, node: Node, factor: int) -> None:
        factors, constant = linear(node)
        self.constant += factor * constant
        for each, own in factors:
            self.factors[each] = self.factors.get(each, 0) + factor * own

    def node(self, graph: Graph) -> Node:
        found = graph.const(self.constant, I8)
        for each, factor in sorted(self.factors.items(), key=lambda pair: pair[0].index):
            if factor:
                part = graph.binary("*", graph.convert(each, I8), graph.const(factor, I8), I8)
                found = graph.binary("+", part, found, I8)
        return found


def _take(graph: Graph, terms: _Terms, node: Node, factor: int) -> None:
    """Takes so many times a number of blocks from the sum; a quotient as what is divided, less what that leaves."""
    divided = _divided(graph, node)
    if divided is None or factor % divided[1]:
        terms.add(node, -factor)
        return
    dividend, divisor = divided
    times = factor // divisor
    terms.add(dividend, -times)
    rest = graph.binary("%", dividend, graph.const(divisor, dividend.kind), dividend.kind)
    terms.add(rest, times)


def _divided(graph: Graph, node: Node) -> tuple[Node, int] | None:
    """What is divided by which number, rounded down: `ceil(n / 16.0)` is `(n + 15) / 16`."""
    bare, rounds_up = _whole(node), False
    if bare.op == "cast":
        bare = bare.args[0]
    if bare.op == "function" and bare.payload in ("ceil", "floor"):
        rounds_up, bare = bare.payload == "ceil", without_cast(bare.args[0])
    if bare.op == ">>" and bare.args[1].is_const and 0 < bare.args[1].value < 31:
        return bare.args[0], 1 << int(bare.args[1].value)
    if bare.op != "/" or not bare.args[1].is_const or not math.isfinite(bare.args[1].value):
        return None
    divisor = int(bare.args[1].value)
    if divisor != bare.args[1].value or divisor < 1:
        return None
    dividend = bare.args[0]
    if bare.kind.is_float:
        dividend = without_cast(dividend)
        if dividend.kind.is_float:
            return None
    if rounds_up:
        dividend = graph.binary("+", dividend, graph.const(divisor - 1, dividend.kind), dividend.kind)
    return dividend, divisor


def may_fall_short(short: Node) -> bool:
    """Whether it is more than a constant that is never above 0."""
    return not short.is_const or short.value > 0


def without_remainders(graph: Graph, nodes: Iterable[Node]) -> tuple[list[Node], dict[Node, tuple[int, int]]]:
    """The same values with a number of its own for each remainder of a division by a number, and between which numbers
    it is: where even that leaves nothing to be found, there is nothing."""
    boxes: dict[Node, tuple[int, int]] = {}
    bindings: dict[Node, Node] = {}
    found = list(nodes)
    for node in below(found, ~0):
        if node.op == "%" and node.bits and node.args[1].is_const and node.args[1].value > 0:
            free = graph.uniform("rest", 0, node.kind)
            bindings[node] = free
            boxes[free] = (0, int(node.args[1].value) - 1)
    return [graph.substitute(node, bindings) if bindings else node for node in found], boxes


def is_above(graph: Graph, node: Node, number: int) -> Node:
    return graph.binary("<", graph.const(number, I8), node, BOOL)
