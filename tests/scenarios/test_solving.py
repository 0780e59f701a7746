"""Numbers under which conditions hold: how little has to be computed to find them, or that there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudalint.scenarios import solving
from cudalint.scenarios.solving import satisfy
from cudalint.values.arithmetic import BOOL, I4, U4, U8, Kind, Number
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node
from cudalint.values.numbers import number


class _Asked(Exception):
    pass


def _never(graph: Graph, parts: Sequence[Node], atoms: Sequence[Node]) -> Mapping[Node, Number] | None:
    raise _Asked


def _compare(graph: Graph, op: str, a: Node, number: int) -> Node:
    return graph.binary(op, a, graph.const(number, a.kind), BOOL)


def test_ranges_of_one_value_that_exclude_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """No n has n * n <= 2 and n * n == 256, also where the latter is asked of the same bits without a sign; n * n <= 2
    and n * n == 1 has n = 1, which is among the first numbers that are tried."""
    search = solving._search
    monkeypatch.setattr(solving, "_search", _never)
    graph = Graph()
    n = graph.uniform("n", 4096, I4)
    square = graph.binary("*", n, n, I4)
    unsigned = graph.convert(square, U4)
    small = _compare(graph, "<=", square, 2)
    assert satisfy(graph, [small, _compare(graph, "==", square, 256)], [n]) is None
    assert satisfy(graph, [small, _compare(graph, "==", unsigned, 256)], [n]) is None
    assert satisfy(graph, [graph.negate(small), _compare(graph, "<", square, 3)], [n]) is None
    for open_ in ([small, _compare(graph, "==", unsigned, 1)], [graph.negate(small), _compare(graph, "<", square, 4)]):
        with pytest.raises(_Asked):
            satisfy(graph, open_, [n])
    monkeypatch.setattr(solving, "_search", search)
    assert satisfy(graph, [small, _compare(graph, "==", unsigned, 1)], [n]) == {n: 1}


def test_trying_numbers_makes_no_nodes() -> None:
    graph = Graph()
    n, m = graph.uniform("n", 4096, I4), graph.uniform("m", 1024, I4)
    wanted = graph.binary("==", graph.binary("*", n, m, I4), graph.const(21), BOOL)
    before = len(list(graph.nodes()))
    # 21 stands in the condition, and is tried with the small numbers: the first two whose product it is are 21 and 1.
    assert satisfy(graph, [wanted], [n, m]) == {n: 21, m: 1}
    assert len(list(graph.nodes())) == before


_KINDS = (I4, U4, U8)
_OPERATIONS = ("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "min", "max", "<", "<=", "==", "!=")


@given(
    st.lists(st.tuples(st.sampled_from(_OPERATIONS), st.sampled_from(_KINDS), st.integers(0, 20)), max_size=8),
    st.integers(-(1 << 33), 1 << 33),
    st.integers(-40, 40),
)
def test_numbers_are_those_of_substitution(steps: list[tuple[str, Kind, int]], n: int, m: int) -> None:
    graph = Graph()
    values = {graph.uniform("n", 4096, I4): n, graph.uniform("m", 1024, U4): m}
    made = list(values)
    for op, kind, place in steps:
        a, b = made[place % len(made)], made[place // len(made) % len(made)]
        made.append(graph.select(a, b, graph.convert(graph.binary(op, a, b, kind), kind)))
    bound = {atom: graph.const(value, atom.kind) for atom, value in values.items()}
    result = graph.substitute(made[-1], bound)
    known: dict[int, Number | None] = {atom.index: constant.value for atom, constant in bound.items()}
    assert result.is_const
    assert number(made[-1], known) == result.value
