"""Dominators against what the word means: without it, there is no way."""

from __future__ import annotations

import random

from cudalint.flow.dominators import immediate_dominators


def _reached(graph: dict[int, list[int]], without: int | None = None) -> set[int]:
    seen: set[int] = set()
    ahead = [0] if without != 0 else []
    while ahead:
        node = ahead.pop()
        if node not in seen:
            seen.add(node)
            ahead += [after for after in graph.get(node, ()) if after != without]
    return seen


def test_all_ways_pass_a_dominator() -> None:
    chance = random.Random(1)
    for _ in range(500):
        size = chance.randint(1, 9)
        graph = {node: [chance.randrange(size) for _ in range(chance.randint(0, 3))] for node in range(size)}
        nodes = _reached(graph)
        strict = {node: {other for other in nodes - {node} if node not in _reached(graph, other)} for node in nodes}
        found = immediate_dominators(graph, 0)
        assert set(found) == nodes - {0}
        for node, last in found.items():
            # The nearest of them is the one that all others dominate.
            assert strict[node] == {last, *strict[last]}, graph
