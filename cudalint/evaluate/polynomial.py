"""Values as polynomials over the uniform symbols: what multiplies `K`, what multiplies `K * H`, and what is left."""

from __future__ import annotations

from collections.abc import Mapping

from cudalint.evaluate.graph import I8, Graph, Node, Uniform, render

Monomial = tuple[Node, ...]
"""Uniform values that are multiplied, by their index in the graph; () is 1."""
Terms = Mapping[Monomial, Node]
"""A coefficient, which may differ from lane to lane, for each monomial."""

_MAX_TERMS = 32


def terms_of(graph: Graph, node: Node) -> Terms:
    """The polynomial of an integer value. What is no polynomial in a uniform value stays in the coefficients."""
    found = _terms(graph, node)
    return {monomial: c for monomial, c in found.items() if not (c.is_const and not c.value)}


def _terms(graph: Graph, node: Node) -> dict[Monomial, Node]:
    if not node.bits & graph.uniform_bits or node.kind.is_float:
        return {(): node}
    op, args = node.op, node.args
    if op == "cast" and not args[0].kind.is_float:
        return _terms(graph, args[0])
    if op in ("+", "-"):
        return _sum(graph, op, _terms(graph, args[0]), _terms(graph, args[1]))
    if op == "*" or (op == "<<" and args[1].is_const and 0 <= args[1].value < 32):
        factor = args[1] if op == "*" else graph.const(1 << int(args[1].value), I8)
        product = _product(graph, _terms(graph, args[0]), _terms(graph, factor))
        if product is not None:
            return product
    if not node.bits & ~graph.uniform_bits:
        return {(node,): graph.one}
    return {(): node}


def _sum(graph: Graph, op: str, a: Mapping[Monomial, Node], b: Mapping[Monomial, Node]) -> dict[Monomial, Node]:
    result = dict(a)
    for monomial, coefficient in b.items():
        result[monomial] = graph.binary(op, result.get(monomial, graph.zero), coefficient, I8)
    return result


def _product(graph: Graph, a: Mapping[Monomial, Node], b: Mapping[Monomial, Node]) -> dict[Monomial, Node] | None:
    if len(a) * len(b) > _MAX_TERMS:
        return None
    result: dict[Monomial, Node] = {}
    for first, x in a.items():
        for second, y in b.items():
            monomial = tuple(sorted((*first, *second), key=lambda atom: atom.index))
            product = graph.binary("*", x, y, I8)
            result[monomial] = graph.binary("+", result.get(monomial, graph.zero), product, I8)
    return result


def is_address(node: Node) -> bool:
    """Whether a uniform value stands for the address of an allocation."""
    return isinstance(node.payload, Uniform) and node.payload.name.startswith("&")


def spelled(monomial: Monomial) -> str:
    """`K * H`."""
    return " * ".join(render(atom) for atom in monomial)
