"""Operations that come to one of their operands or to a constant, whatever the values of the leaves are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cudalint.host.values.arithmetic import BOOL, Kind, wrap
from cudalint.host.values.nodes import Node, without_cast

if TYPE_CHECKING:
    from cudalint.host.values.graph import Graph


def simplify(graph: Graph, op: str, a: Node, b: Node, kind: Kind) -> Node | None:
    """What `a op b` comes to without a node of its own; None where it takes one. `a` and `b` are not both constants."""
    if op in ("&&", "||"):
        return _simplify_logic(graph, op, a, b)
    if "f" in (kind.code, a.kind.code, b.kind.code):
        return None
    if b.is_const:
        return _of_divisor(graph, op, a, int(b.value)) or _simplify_constant(graph, op, a, int(b.value), kind)
    if a.is_const and op in ("+", "*"):
        return _simplify_constant(graph, op, b, int(a.value), kind)
    if a is b:
        if op in ("-", "^"):
            return graph.const(0, kind)
        if op in ("&", "|", "min", "max"):
            return a
        if op in ("==", "<="):
            return graph.true
        if op in ("!=", "<"):
            return graph.false
    found = _rest(op, a, b, kind) if op in ("+", "-") else None
    return None if found is None else graph.convert(found, kind)


def _rest(op: str, a: Node, b: Node, kind: Kind) -> Node | None:
    """What is left where one operand takes the other away or has it in it: `a + (b - a)`, `(a + b) - a`, `a - (a - b)`.
    Whole numbers of one kind wrap in the same way, so that this holds for all of them."""
    if op == "+":
        return next((y.args[0] for x, y in ((a, b), (b, a)) if _is(y, "-", kind) and y.args[1] is x), None)
    if _is(a, "+", kind) and b in a.args:
        return a.args[a.args[0] is b]
    return b.args[1] if _is(b, "-", kind) and b.args[0] is a else None


def _is(node: Node, op: str, kind: Kind) -> bool:
    return node.op == op and node.kind == kind


def _of_divisor(graph: Graph, op: str, asked: Node, c: int) -> Node | None:
    """What is asked of the greatest common divisor of a size and a number: it is one of the number's divisors, and the
    number itself where the size is a multiple of it."""
    divisor = without_cast(asked)
    if divisor.op != "gcd" or not divisor.args[1].is_const:
        return None
    size, number = divisor.args[0], int(divisor.args[1].value)
    if number <= 0 or wrap(number, asked.kind) != number:
        return None
    if op == "<" and c <= 0:
        return graph.false
    if op not in ("==", "!="):
        return None
    if c <= 0 or number % c:
        return graph.false if op == "==" else graph.true
    if c != number:
        return None
    rest = graph.binary("%", size, graph.const(number, size.kind), size.kind)
    return graph.binary(op, rest, graph.const(0, size.kind), BOOL)


def _simplify_constant(graph: Graph, op: str, a: Node, c: int, kind: Kind) -> Node | None:
    if (op in ("+", "-", "<<", ">>", "|", "^") and c == 0) or (op in ("*", "/") and c == 1):
        return graph.convert(a, kind)
    if (op in ("*", "&") and c == 0) or (op == "%" and c == 1):
        return graph.const(0, kind)
    if op == "-" and kind.code == "i":
        return graph.binary("+", a, graph.const(-c, kind), kind)
    if op in ("+", "*") and a.op == op and a.kind == kind and a.args[1].is_const:
        inner = int(a.args[1].value)
        folded = inner + c if op == "+" else inner * c
        return graph.binary(op, a.args[0], graph.const(folded, kind), kind)
    return None


def _simplify_logic(graph: Graph, op: str, a: Node, b: Node) -> Node | None:
    for x, y in ((a, b), (b, a)):
        if x.is_const:
            if op == "&&":
                return graph.truth(y) if x.value else graph.false
            return graph.true if x.value else graph.truth(y)
    return graph.truth(a) if a is b else None
