"""Conditions that leave no number for a value."""

from __future__ import annotations

import pytest

from cudalint.host.values.arithmetic import BOOL, I4, Kind
from cudalint.host.values.contradictions import exclude_each_other
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node


def _conditions(graph: Graph, value: Node, texts: list[str]) -> list[Node]:
    found = []
    for text in texts:
        op, number = text.lstrip("!").split()
        condition = graph.binary(op, value, graph.const(int(number), value.kind), BOOL)
        found.append(graph.negate(condition) if text.startswith("!!") else condition)
    return found


@pytest.mark.parametrize("texts", [["== 5", "== 7"], ["== 5", "!!== 5"], ["== 5", "< 5"], ["<= 2", "!!< 3"]])
def test_conditions_on_one_value_that_leave_none(texts: list[str]) -> None:
    graph = Graph()
    value = graph.uniform("n", 32, I4)
    assert exclude_each_other(_conditions(graph, value, texts))


@pytest.mark.parametrize("texts", [["== 5", "== 5"], ["== 5", "!!== 7"], ["== 5", "<= 5"], ["<= 2", "!!< 2"]])
def test_conditions_on_one_value_that_leave_some(texts: list[str]) -> None:
    graph = Graph()
    value = graph.uniform("n", 32, I4)
    assert not exclude_each_other(_conditions(graph, value, texts))


def test_a_type_that_is_compared_as_it_is_and_as_an_integer() -> None:
    graph = Graph()
    type_ = graph.uniform("type", 32, Kind("i", 1))
    as_integer = graph.convert(type_, I4)
    first, second = _conditions(graph, type_, ["== 5"]), _conditions(graph, as_integer, ["== 7"])
    assert exclude_each_other([*first, *second])
    assert not exclude_each_other([*first, *_conditions(graph, as_integer, ["== 5"])])


def test_conditions_on_two_values() -> None:
    graph = Graph()
    n, m = (graph.uniform(name, 32, I4) for name in "nm")
    assert not exclude_each_other([*_conditions(graph, n, ["== 5"]), *_conditions(graph, m, ["== 7"])])
