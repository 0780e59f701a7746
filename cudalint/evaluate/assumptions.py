"""What users state about parameters: `assume(K % 4 == 0)`, `--assume`, `--param`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from cudalint.evaluate.graph import BOOL, F8, I8, Graph, Node
from cudalint.expressions import (
    BinaryOp,
    CallOp,
    CastOp,
    ConditionalOp,
    Expression,
    MemberRef,
    NameRef,
    Number,
    UnaryOp,
)

_CANDIDATES = (None, 32, 64, 128, 256, 512, 1024, 16, 8, 4, 2, 1, 3, 7, 33, 100, 1000, 100_000)
"""Values tried for a name whose generic value does not satisfy an assumption."""


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Conditions that hold, and the values that they leave for names."""

    expressions: tuple[Expression, ...] = ()
    values: Mapping[str, int] = field(default_factory=dict)
    """Names that an assumption fixes to one number, or for which a number had to be found."""

    @staticmethod
    def of(expressions: Iterable[Expression]) -> Assumptions:
        found = tuple(expressions)
        values: dict[str, int] = {}
        for expression in found:
            fixed = _fixed(expression)
            if fixed is not None:
                values[fixed[0]] = fixed[1]
        return Assumptions(found, values)


def _fixed(expression: Expression) -> tuple[str, int] | None:
    """`N == 1024` fixes N."""
    if isinstance(expression, BinaryOp) and expression.op == "==":
        name = _name(expression.left) or _name(expression.right)
        number = expression.right if _name(expression.left) else expression.left
        if name is not None and isinstance(number, Number):
            return name, int(number.value)
    return None


def _name(expression: Expression) -> str | None:
    if isinstance(expression, NameRef):
        return expression.name
    if isinstance(expression, MemberRef):
        base = _name(expression.base)
        return None if base is None else f"{base}.{expression.field}"
    return None


def evaluate_expression(graph: Graph, expression: Expression, names: Mapping[str, Node]) -> Node:
    """A user's expression as a node; raises KeyError for a name that nobody knows."""
    if isinstance(expression, Number):
        kind = F8 if isinstance(expression.value, float) else I8
        return graph.const(expression.value, kind)
    name = _name(expression)
    if name is not None:
        return names[name]
    if isinstance(expression, BinaryOp):
        a, b = (evaluate_expression(graph, e, names) for e in (expression.left, expression.right))
        kind = F8 if a.kind.is_float or b.kind.is_float else I8
        return graph.binary(expression.op, a, b, kind)
    if isinstance(expression, UnaryOp):
        return _unary(graph, expression, names)
    if isinstance(expression, ConditionalOp):
        parts = (expression.condition, expression.then, expression.otherwise)
        test, then, otherwise = (evaluate_expression(graph, e, names) for e in parts)
        return graph.select(test, then, otherwise)
    if isinstance(expression, CastOp):
        return evaluate_expression(graph, expression.operand, names)
    if isinstance(expression, CallOp) and expression.name in ("min", "max") and len(expression.arguments) == 2:
        a, b = (evaluate_expression(graph, e, names) for e in expression.arguments)
        return graph.binary(expression.name, a, b, I8)
    raise KeyError(str(expression))


def _unary(graph: Graph, expression: UnaryOp, names: Mapping[str, Node]) -> Node:
    operand = evaluate_expression(graph, expression.operand, names)
    if expression.op == "!":
        return graph.negate(operand)
    if expression.op == "~":
        return graph.invert(operand, I8)
    if expression.op == "-":
        return graph.binary("-", graph.const(0, I8), operand, operand.kind)
    return graph.convert(operand, operand.kind) if operand.kind != BOOL else operand
