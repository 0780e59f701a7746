"""Which sizes a grid was rounded up from: `(n + 31) / 32` blocks cover `n` elements in tiles of 32.

The value of a grid doesn't show that any more, so the expressions are read: through variables, `dim3` and functions
such as `divUp(n, 32)`. What is read is believed only if it gives the grid's own value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from cudalint.facts import Tiling
from cudalint.heuristics import heuristic
from cudalint.host.executor import expressions
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir import walk

if TYPE_CHECKING:
    from cudalint.host.executor.execution import Execution

Axis = Literal["x", "y", "z"]
_AXES: tuple[Axis, ...] = ("x", "y", "z")
_MAX_DEPTH = 8
_CEILINGS = frozenset({"ceil", "ceilf"})


class _Sized(NamedTuple):
    size: int
    tile: int
    text: str


class Definitions:
    """What the variables of the host code were last set to, as expressions."""

    def __init__(self) -> None:
        self._of: dict[tuple[ir.Symbol, str], ir.Expr] = {}

    def note(self, symbol: ir.Symbol, value: ir.Expr | None, field: str = "") -> None:
        if value is not None:
            self._of[symbol, field] = value
        if not field:
            for axis in _AXES:
                self._of.pop((symbol, axis), None)

    def note_assignment(self, expr: ir.Assign) -> None:
        target = expr.target
        if isinstance(target, ir.Name):
            self.note(target.symbol, None if expr.op else expr.value)
            if expr.op:
                self._of.pop((target.symbol, ""), None)
        elif isinstance(target, ir.Member) and isinstance(target.base, ir.Name):
            if expr.op:
                self._of.pop((target.base.symbol, target.field), None)
            else:
                self.note(target.base.symbol, expr.value, target.field)

    def of(self, symbol: ir.Symbol, field: str = "") -> ir.Expr | None:
        return self._of.get((symbol, field))


@heuristic("rounded-up-grids", "`(n + 31) / 32` blocks cover `n` elements").otherwise(())
def tilings(ex: Execution, grid: ir.Expr, extents: tuple[Node, Node, Node]) -> tuple[Tiling, ...]:
    """The axes of a launch's grid that are rounded up from a size that is a plain number."""
    found = []
    for axis, extent in zip(_AXES, extents, strict=True):
        if not extent.is_const or extent.value < 1:
            continue
        expr = _extent(ex.code.definitions, grid, axis)
        sized = _Reader(ex).sized(expr, {}) if expr is not None else None
        if sized is not None and sized.size > 0 and -(-sized.size // sized.tile) == extent.value:
            found.append(Tiling(axis, sized.size, sized.tile, sized.text))
    return tuple(found)


def _extent(definitions: Definitions, grid: ir.Expr | None, axis: Axis) -> ir.Expr | None:
    """The expression of one axis of a `dim3`."""
    for _ in range(_MAX_DEPTH):
        if isinstance(grid, ir.Cast):
            grid = grid.operand
        elif isinstance(grid, ir.Name) and isinstance(grid.type, ir.RecordType):
            own = definitions.of(grid.symbol, axis)
            if own is not None:
                return own
            grid = definitions.of(grid.symbol)
        elif isinstance(grid, ir.Construct) and isinstance(grid.type, ir.RecordType):
            if len(grid.arguments) == 1 and isinstance(grid.arguments[0].type, ir.RecordType):
                grid = grid.arguments[0]
                continue
            position = _AXES.index(axis)
            return grid.arguments[position] if position < len(grid.arguments) else None
        else:
            return grid if axis == "x" and isinstance(getattr(grid, "type", None), ir.Scalar) else None
    return None


Bindings = Mapping[ir.Symbol, ir.Expr]
"""The arguments of a helper function's parameters."""


class _Reader:
    def __init__(self, ex: Execution) -> None:
        self.ex = ex

    def sized(self, expr: ir.Expr, bound: Bindings, depth: int = 0) -> _Sized | None:
        """Size and tile of an expression that rounds a division up."""
        expr = self._bare(expr, bound)
        if depth > _MAX_DEPTH:
            return None
        if isinstance(expr, ir.Name):
            definition = self.ex.code.definitions.of(expr.symbol)
            return self.sized(definition, bound, depth + 1) if definition is not None else None
        if isinstance(expr, ir.Binary) and expr.op == "/":
            return self._division(expr, bound)
        if isinstance(expr, ir.Binary) and expr.op == "+":
            return self._one_more(expr, bound)
        if isinstance(expr, ir.Conditional):
            return self._conditional(expr, bound)
        if isinstance(expr, ir.Call):
            return self._call(expr, bound, depth)
        return None

    def _division(self, expr: ir.Binary, bound: Bindings) -> _Sized | None:
        """`(n + T - 1) / T`, however the terms stand."""
        tile = self.value(expr.right, bound)
        if tile is None or tile < 2:
            return None
        terms = [(sign, term, self.value(term, bound)) for sign, term in self._terms(expr.left, bound)]
        if any(value is None for _, _, value in terms):
            return None
        numbers = [sign * (value or 0) for sign, _, value in terms]
        for fillers in _subsets(len(terms)):
            if len(fillers) < len(terms) and sum(numbers[i] for i in fillers) == tile - 1:
                rest = [i for i in range(len(terms)) if i not in fillers]
                size = sum(numbers[i] for i in rest)
                text = self._text(terms[rest[0]][1], bound) if len(rest) == 1 else str(size)
                return _Sized(size, tile, text)
        return None

    def _one_more(self, expr: ir.Binary, bound: Bindings) -> _Sized | None:
        """`(n - 1) / T + 1` and `n / T + (n % T != 0)`."""
        first, second = (self._bare(side, bound) for side in (expr.left, expr.right))
        division, extra = (first, second) if isinstance(first, ir.Binary) and first.op == "/" else (second, first)
        if not isinstance(division, ir.Binary) or division.op != "/":
            return None
        size, tile = self.value(division.left, bound), self.value(division.right, bound)
        if size is None or tile is None or tile < 2:
            return None
        if _has_remainder(extra):
            return _Sized(size, tile, self._text(division.left, bound))
        terms = [term for sign, term in self._terms(division.left, bound) if sign > 0]
        if self.value(extra, bound) == 1 and len(terms) == 1 and self.value(terms[0], bound) == size + 1:
            return _Sized(size + 1, tile, self._text(terms[0], bound))
        return None

    def _conditional(self, expr: ir.Conditional, bound: Bindings) -> _Sized | None:
        """`n % T == 0 ? n / T : n / T + 1`."""
        if not _has_remainder(expr.condition):
            return None
        for side in (expr.then, expr.otherwise):
            for node in walk.walk(side):
                if isinstance(node, ir.Binary) and node.op == "/":
                    size, tile = self.value(node.left, bound), self.value(node.right, bound)
                    if size is not None and tile is not None and tile >= 2:
                        return _Sized(size, tile, self._text(node.left, bound))
        return None

    def _call(self, expr: ir.Call, bound: Bindings, depth: int) -> _Sized | None:
        """`ceil((float)n / T)`, and functions of the user's that consist of one `return`."""
        if expr.name in _CEILINGS and len(expr.arguments) == 1:
            inner = self._bare(expr.arguments[0], bound)
            if not isinstance(inner, ir.Binary) or inner.op != "/":
                return None
            size, tile = self.value(inner.left, bound), self.value(inner.right, bound)
            return _Sized(size, tile, self._text(inner.left, bound)) if size and tile and tile >= 2 else None
        function = expr.function.load() if expr.function is not None and expr.function.is_user else None
        if function is None or len(function.parameters) != len(expr.arguments):
            return None
        statements = function.body.statements if isinstance(function.body, st.Block) else ()
        if len(statements) != 1 or not isinstance(statements[0], st.Return) or statements[0].value is None:
            return None
        arguments = (self._bare(argument, bound) for argument in expr.arguments)
        inner_bound = dict(zip(function.parameters, arguments, strict=True))
        return self.sized(statements[0].value, inner_bound, depth + 1)

    def _terms(self, expr: ir.Expr, bound: Bindings, sign: int = 1) -> Iterator[tuple[int, ir.Expr]]:
        """The terms of a sum, with their signs."""
        expr = self._bare(expr, bound)
        if isinstance(expr, ir.Binary) and expr.op in ("+", "-"):
            yield from self._terms(expr.left, bound, sign)
            yield from self._terms(expr.right, bound, sign if expr.op == "+" else -sign)
        else:
            yield sign, expr

    def _bare(self, expr: ir.Expr, bound: Bindings) -> ir.Expr:
        """Without casts, and an argument for a parameter."""
        while True:
            if isinstance(expr, ir.Cast):
                expr = expr.operand
            elif isinstance(expr, ir.Name) and expr.symbol in bound:
                return walk.without_casts(bound[expr.symbol])
            else:
                return expr

    def value(self, expr: ir.Expr, bound: Bindings) -> int | None:
        """The whole number that an expression without effects has now, None where that isn't plain."""
        expr = self._bare(expr, bound)
        if isinstance(expr, ir.Binary) and bound:
            return self._arithmetic(expr, bound)
        if any(_has_effect(node) for node in walk.walk(expr)):
            return None
        node = expressions.number(self.ex, expr)
        return int(node.value) if node.is_const and node.value == int(node.value) else None

    def _arithmetic(self, expr: ir.Binary, bound: Bindings) -> int | None:
        left, right = self.value(expr.left, bound), self.value(expr.right, bound)
        if left is None or right is None:
            return None
        match expr.op:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
        return None

    def _text(self, expr: ir.Expr, bound: Bindings) -> str:
        """A name where the expression is one, else its value."""
        expr = self._bare(expr, bound)
        if isinstance(expr, ir.Name):
            return expr.symbol.name
        if isinstance(expr, ir.Member):
            return expr.field
        return str(self.value(expr, bound))


_WITH_EFFECTS = (ir.Assign, ir.Call, ir.Launch, ir.Lambda, ir.New, ir.UnknownExpr)


def _has_effect(node: object) -> bool:
    return isinstance(node, _WITH_EFFECTS) or (isinstance(node, ir.Unary) and "x" in node.op)


def _has_remainder(expr: ir.Expr) -> bool:
    return any(isinstance(node, ir.Binary) and node.op == "%" for node in walk.walk(expr))


def _subsets(count: int) -> Iterator[tuple[int, ...]]:
    """Pairs of terms first: `T - 1` is two of them, and only then one number."""
    for first in range(count):
        for second in range(first + 1, count):
            yield first, second
    yield from ((index,) for index in range(count))

