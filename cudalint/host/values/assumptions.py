"""What users state about parameters: `assume(K % 4 == 0)`, `--assume`, `--param`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.host.values.arithmetic import BOOL, F8, I8
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node, below
from cudalint.options.expressions import (
    BinaryOp,
    CallOp,
    CastOp,
    ConditionalOp,
    Expression,
    MemberRef,
    NameRef,
    Number,
    UnaryOp,
    parts_of,
)

_MAX_STEPS = 8
"""Macros that name macros are followed so far."""
_BITS = 64
_LARGEST_CONDITION = 1024
"""Nodes of a condition that sizes are chosen for, each counted once: rounding up to a power of two takes dozens."""


class UnknownName(ValueError):
    """An expression uses a name that means nothing where it stands."""


class Assumptions(Struct, frozen=True):
    """Conditions that hold, and the values that they leave for names."""

    expressions: tuple[Expression, ...] = ()
    values: Mapping[str, int] = field(default_factory=dict)
    """Names that an assumption fixes to one number."""

    @staticmethod
    def of(expressions: Iterable[Expression]) -> Assumptions:
        found = tuple(expressions)
        fixed = (_fixed(expression) for expression in found)
        return Assumptions(found, dict(pair for pair in fixed if pair is not None))

    def conditions(self, graph: Graph, names: Mapping[str, Node]) -> tuple[Node, ...]:
        """The assumptions as conditions on values; those on names that this kernel does not have say nothing here."""
        nodes = []
        for expression in self.expressions:
            try:
                nodes.append(graph.truth(evaluate_expression(graph, expression, names)))
            except UnknownName:
                continue
        return tuple(nodes)


def is_large(condition: Node) -> bool:
    """Whether a condition is computed from so much that trying sizes for it takes long."""
    if condition.size <= _LARGEST_CONDITION:
        return False
    return len([*itertools.islice(below([condition], condition.bits), _LARGEST_CONDITION)]) == _LARGEST_CONDITION


def _fixed(expression: Expression) -> tuple[str, int] | None:
    """`N == 1024` fixes N."""
    if isinstance(expression, BinaryOp) and expression.op == "==":
        name = _name(expression.left) or _name(expression.right)
        number = expression.right if _name(expression.left) else expression.left
        if name is not None and isinstance(number, Number):
            return (name, int(number.value)) if math.isfinite(number.value) else None
    return None


def _name(expression: Expression) -> str | None:
    if isinstance(expression, NameRef):
        return expression.name
    if isinstance(expression, MemberRef):
        base = _name(expression.base)
        return None if base is None else f"{base}.{expression.field}"
    return None


def evaluate_expression(graph: Graph, expression: Expression, names: Mapping[str, Node]) -> Node:
    """A user's expression as a node; raises `UnknownName` for a name that nobody knows."""
    if isinstance(expression, Number):
        kind = F8 if isinstance(expression.value, float) else I8
        return graph.const(expression.value, kind)
    name = _name(expression)
    if name is not None:
        if name not in names:
            raise UnknownName(f"`{name}` is not known here")
        return names[name]
    if isinstance(expression, BinaryOp):
        a, b = (evaluate_expression(graph, e, names) for e in (expression.left, expression.right))
        kind = F8 if a.kind.is_float or b.kind.is_float else I8
        _check_operands(expression.op, b)
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
    raise UnknownName("such an expression is not understood here")


def _check_operands(op: str, right: Node) -> None:
    """C leaves open what a division by zero or a shift out of range is."""
    if op in ("/", "%") and right.is_const and right.value == 0:
        raise UnknownName("it divides by zero")
    if op in ("<<", ">>") and right.is_const and not 0 <= right.value < _BITS:
        raise UnknownName(f"it shifts by {right.value:g}")


def _unary(graph: Graph, expression: UnaryOp, names: Mapping[str, Node]) -> Node:
    operand = evaluate_expression(graph, expression.operand, names)
    if expression.op == "!":
        return graph.negate(operand)
    if expression.op == "~":
        return graph.invert(operand, I8)
    if expression.op == "-":
        return graph.binary("-", graph.const(0, I8), operand, operand.kind)
    return graph.convert(operand, operand.kind) if operand.kind != BOOL else operand


def with_constants(graph: Graph, expression: Expression, own: Collection[str], constants: Constants) -> Expression:
    """The expression with numbers in place of the file's constants; names in `own` mean something else.

    Raises `UnknownName` for a name that is neither.
    """
    name = _name(expression)
    if name is not None:
        if name.partition(".")[0] in own:
            return expression
        node = constants[name]
        if not node.is_const:
            raise UnknownName(f"`{name}` is no number here")
        return Number(node.value)
    parts: dict[str, Expression | tuple[Expression, ...]] = {}
    for field_, part in parts_of(expression).items():
        if isinstance(part, tuple):
            parts[field_] = tuple(with_constants(graph, each, own, constants) for each in part)
        else:
            parts[field_] = with_constants(graph, part, own, constants)
    if not parts:
        return expression
    if all(isinstance(part, Number) for part in parts.values()):
        node = evaluate_expression(graph, replace(expression, **parts), {})
        return Number(node.value) if node.is_const else expression
    return replace(expression, **parts)


class Constants(dict[str, Node]):
    """The file's constants as nodes, looked up when they are asked for."""

    def __init__(self, graph: Graph, constant: Callable[[str], Expression | None], depth: int = 0) -> None:
        super().__init__()
        self._graph = graph
        self._constant = constant
        self._depth = depth

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._constant(name) is not None

    def __getitem__(self, name: str) -> Node:
        """A macro may name further ones; one that names itself means nothing."""
        expression = self._constant(name) if self._depth < _MAX_STEPS else None
        if expression is None:
            raise UnknownName(f"`{name}` is not known here")
        return evaluate_expression(self._graph, expression, Constants(self._graph, self._constant, self._depth + 1))
