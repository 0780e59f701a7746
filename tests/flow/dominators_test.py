"""Dominators against what the word means: without it, there is no way."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cudalint.flow.dominators import immediate_dominators

_GRAPHS = st.integers(1, 8).flatmap(
    lambda size: st.dictionaries(st.integers(0, size), st.lists(st.integers(0, size), max_size=4))
)


def _reached(graph: dict[int, list[int]], without: int | None = None) -> set[int]:
    seen: set[int] = set()
    ahead = [0] if without != 0 else []
    while ahead:
        node = ahead.pop()
        if node not in seen:
            seen.add(node)
            ahead += [after for after in graph.get(node, ()) if after != without]
    return seen


@given(_GRAPHS)
def test_all_ways_pass_a_dominator(graph: dict[int, list[int]]) -> None:
    nodes = _reached(graph)
    strict = {node: {other for other in nodes - {node} if node not in _reached(graph, other)} for node in nodes}
    found = immediate_dominators(graph, 0)
    assert set(found) == nodes - {0}
    for node, last in found.items():
        # The nearest of them is the one that all others dominate.
        assert strict[node] == {last, *strict[last]}
