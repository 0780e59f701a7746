"""Residues: whatever is said of a value modulo a power of two holds for all values of its leaves."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cudalint.values.arithmetic import I4, I8, U4
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node
from cudalint.values.numeric import Rows
from cudalint.values.polynomial import terms_of
from cudalint.values.residues import Residues
from cudalint.values.threads import Threads

_OPERATIONS = ("+", "-", "*", "&", "|", "^", "/", "%", "<<", ">>", "min", "max", "select")
_NUMBERS = st.integers(-70_000, 70_000)


@st.composite
def _values(draw: st.DrawFn) -> tuple[Graph, Node, list[Node]]:
    """An expression over two unknown numbers."""
    graph = Graph()
    leaves = [graph.uniform("u", 64, draw(st.sampled_from((I4, U4, I8)))), graph.uniform("v", 96, I4)]
    nodes = [*leaves, *(graph.const(draw(_NUMBERS), I8) for _ in range(2))]
    nodes += [graph.const(1 << draw(st.integers(0, 10)), I8) for _ in range(2)]
    for _ in range(draw(st.integers(1, 8))):
        op, kind = draw(st.sampled_from(_OPERATIONS)), draw(st.sampled_from((I4, U4, I8)))
        a, b = draw(st.sampled_from(nodes)), draw(st.sampled_from(nodes))
        if op in ("<<", ">>"):
            nodes.append(graph.binary(op, a, graph.const(draw(st.integers(0, 12))), kind))
        elif op == "select":
            nodes.append(graph.select(graph.binary("<", a, b, kind), a, b))
        else:
            nodes.append(graph.convert(graph.binary(op, a, b, kind), draw(st.sampled_from((I4, U4, I8)))))
    return graph, nodes[-1], leaves


def _number(graph: Graph, node: Node, values: dict[Node, int | float]) -> int:
    rows = Rows(graph, Threads.of((1, 1, 1)), np.zeros((1, 3), dtype=np.int64), np.ones(1), values)
    return int(np.asarray(rows.value(node)).flat[0])


@given(_values(), st.lists(st.tuples(st.integers(0, 1 << 20), st.integers(-(1 << 20), 1 << 20)), min_size=4))
def test_residues_hold(value: tuple[Graph, Node, list[Node]], tried: list[tuple[int, int]]) -> None:
    graph, node, leaves = value
    residue = Residues().of(node)
    for numbers in tried:
        number = _number(graph, node, dict(zip(leaves, numbers, strict=True)))
        assert number % residue.modulus == residue.rest


@given(_values(), st.tuples(st.integers(0, 1 << 20), st.integers(-(1 << 20), 1 << 20)))
def test_a_polynomial_is_the_value_modulo_what_wraps(
    value: tuple[Graph, Node, list[Node]], numbers: tuple[int, int]
) -> None:
    graph, node, leaves = value
    values: dict[Node, int | float] = dict(zip(leaves, numbers, strict=True))
    total = 0
    for monomial, coefficient in terms_of(graph, node).items():
        product = _number(graph, coefficient, values)
        for atom in monomial:
            product *= _number(graph, atom, values)
        total += product
    assert (total - _number(graph, node, values)) % (1 << 32) == 0


def test_what_is_known() -> None:
    graph, residues = Graph(), Residues()
    u = graph.uniform("u", 64, I4)

    def of(op: str, a: Node, b: int) -> tuple[int, int]:
        return tuple(residues.of(graph.binary(op, a, graph.const(b), I4)))  # type: ignore[return-value]

    fours = graph.binary("*", u, graph.const(4), I4)
    assert of("*", u, 12) == (0, 4)
    assert of("+", fours, 6) == (2, 4)
    assert of("&", u, ~15) == (0, 16)
    assert of("<<", u, 3) == (0, 8)
    assert of("/", fours, 2) == (0, 2)
    assert of("%", fours, 24) == (0, 4)
    assert tuple(residues.of(graph.select(graph.truth(u), fours, graph.const(6)))) == (0, 2)
    assert residues.of(u).modulus == 1
