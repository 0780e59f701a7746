"""Values as polynomials over the uniform symbols: what multiplies `K`, what multiplies `K * H`, and what is left."""

from __future__ import annotations

import re
from collections.abc import Mapping

from cudalint.host.values.arithmetic import I8
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, Uniform, render

Monomial = tuple[Node, ...]
"""Uniform values that are multiplied, by their index in the graph; () is 1."""
Terms = Mapping[Monomial, Node]
"""A coefficient, which may differ from lane to lane, for each monomial."""

_MAX_TERMS = 32
_NAME = re.compile(r"[A-Za-z_](?:[\w.>-]|\[\d+\])*")


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


Linear = tuple[frozenset[tuple[Node, int]], int]
"""Values with their factors, and a constant that is added."""

_MAX_STEPS = 64


def linear(offset: Node) -> Linear:
    """An integer value as a sum: `(2 * t + 1) * 4` is 8 * t, and 4. Equal bases mean neighbours at a fixed distance."""
    factors: dict[Node, int] = {}
    constant, steps = 0, 0
    pending = [(offset, 1)]
    while pending:
        node, factor = pending.pop()
        steps += 1
        op, args = node.op, node.args
        if node.is_const:
            constant += int(node.value) * factor
        elif steps > _MAX_STEPS:
            factors[node] = factors.get(node, 0) + factor
        elif op == "cast" and not args[0].kind.is_float and node.kind.bytes >= 4:
            pending.append((args[0], factor))
        elif op in ("+", "-"):
            pending += [(args[0], factor), (args[1], factor if op == "+" else -factor)]
        elif op == "*" and (args[0].is_const or args[1].is_const):
            known, other = args if args[0].is_const else (args[1], args[0])
            pending.append((other, factor * int(known.value)))
        elif op == "<<" and args[1].is_const and 0 <= args[1].value < 32:
            pending.append((args[0], factor << int(args[1].value)))
        else:
            factors[node] = factors.get(node, 0) + factor
    return frozenset(item for item in factors.items() if item[1]), constant


def is_address(node: Node) -> bool:
    """Whether a uniform value stands for the address of an allocation."""
    return isinstance(node.payload, Uniform) and node.payload.name.startswith("&")


def spelled(monomial: Monomial) -> str:
    """`K * H`."""
    return " * ".join(render(atom) for atom in monomial)
