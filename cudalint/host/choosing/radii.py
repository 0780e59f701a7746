"""How far windows reach to both sides of a place, as loops over them tell: `for (d = -radius; d <= radius; ++d)`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from cudalint.host.values.graph import Graph, conjuncts
from cudalint.host.values.nodes import Node, without_cast, without_not
from cudalint.host.values.polynomial import linear

_Share = tuple[Node, int]
"""A value, and the number by which it is divided."""


def radii(graph: Graph, loops: Iterable[tuple[Node, Node]]) -> Iterator[_Share]:
    """The sizes that are radii, or so many times a radius (`width / 2`), by the counters and conditions of loops: twice
    a radius and one more are the places of a window, from wherever they are counted."""
    for counter, condition in loops:
        for test in conjuncts(graph, condition):
            factors, constant = _below_zero(test)
            left = {share: factor for share, factor in factors.items() if factor}
            if left.pop((counter, 1), 0) == 1 and constant == -1 and list(left.values()) == [-2]:
                [(size, number)] = left
                if size.op == "uniform" and not size.kind.is_float:
                    yield size, number


def _below_zero(test: Node) -> tuple[Counter[_Share], int]:
    """What a loop goes on for while it is less than 0, as a sum of values with factors, and a number."""
    bare = without_not(test)
    factors: Counter[_Share] = Counter()
    if bare.op not in ("<", "<=") or bare.args[0].kind.is_float:
        return factors, 0
    # The opposite of `end < at` is `at <= end`.
    sides = bare.args if bare is test else bare.args[::-1]
    is_strict = (bare.op == "<") == (bare is test)
    total = 0 if is_strict else -1
    for side, sign in zip(sides, (1, -1), strict=True):
        parts, constant = linear(side)
        total += sign * constant
        for part, factor in parts:
            share, own = _share(part)
            factors[share] += sign * factor * own
    return factors, total


def _share(part: Node) -> tuple[_Share, int]:
    """`size / 2`, and `-size / 2` with its sign."""
    if part.op != "/" or not part.args[1].is_const:
        return (part, 1), 1
    factors, constant = linear(part.args[0])
    if constant or len(factors) != 1:
        return (part, 1), 1
    [(inner, factor)] = factors
    if abs(factor) != 1:
        return (part, 1), 1
    return (without_cast(inner), int(part.args[1].value)), factor
