"""Between which numbers values of a kernel lie, for blocks or worlds side by side, without executing anything.

It is arithmetic on intervals over the text: each bound is a number or an array. What several statements assign to, or
data, has no interval, but for counters of loops, which lie between where they begin and where their loops end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cudalint.ir import nodes as ir
from cudalint.ir import statements as st
from cudalint.ir.walk import root, without_casts
from cudalint.worlds.origins import Code, Origins, is_local
from cudalint.worlds.records import Parameter

Interval = tuple[Any, Any]
"""The least and the largest, both included: numbers or arrays, as floats, which are exact for what addresses are."""

_AXES = "xyz"
_MOST_DEPTH = 64


class Counted(NamedTuple):
    """A loop over a counter."""

    counter: ir.Symbol
    start: ir.Expr
    op: str
    """How the counter is compared with the bound."""
    bound: ir.Expr
    step: ir.Expr
    is_up: bool


class Definitions:
    """What the variables of a kernel are."""

    def __init__(self, code: Code) -> None:
        self._of: dict[ir.Symbol, list[ir.Expr | None]] = {}
        self.loops: dict[st.For, Counted] = {}
        self._counters: dict[ir.Symbol, Counted | None] = {}
        for symbol, value in code.bound:
            self._of.setdefault(symbol, []).append(value)
        for node in code.nodes:
            for symbol, own in _assigned(node):
                self._of.setdefault(symbol, []).append(own)
        for node in code.nodes:
            counted = _counted(node) if isinstance(node, st.For) else None
            if counted is not None and len(self._of.get(counted.counter, ())) == 2:
                self.loops[node] = counted
                self._counters[counted.counter] = None if counted.counter in self._counters else counted

    def of(self, symbol: ir.Symbol) -> ir.Expr | None:
        """The one value that a variable ever has."""
        found = self._of.get(symbol, ())
        return found[0] if len(found) == 1 else None

    def counter(self, symbol: ir.Symbol) -> Counted | None:
        return self._counters.get(symbol)

    def is_changed(self, symbol: ir.Symbol) -> bool:
        return symbol in self._of


def _assigned(node: Any) -> Iterator[tuple[ir.Symbol, ir.Expr | None]]:
    match node:
        case st.Declare(initializer=initializer) if initializer is not None:
            yield node.symbol, initializer
        case ir.Assign():
            symbol = root(node.target)
            if symbol is not None and (is_local(node.target) or isinstance(node.target, ir.Name)):
                is_whole = not node.op and isinstance(node.target, ir.Name)
                yield symbol, node.value if is_whole else None
        case ir.Unary(op="++x" | "--x" | "x++" | "x--" | "&"):
            symbol = root(node.operand)
            if symbol is not None:
                yield symbol, None


def _counted(loop: st.For) -> Counted | None:
    start = next(_starts(loop.init), None)
    condition = without_casts(loop.condition) if loop.condition is not None else None
    if start is None or not isinstance(condition, ir.Binary) or condition.op not in ("<", "<=", ">", ">=", "!="):
        return None
    counter, begin = start
    if _name(condition.left) is not counter:
        return None
    step = _step(loop.increment, counter)
    if step is None:
        return None
    return Counted(counter, begin, condition.op, condition.right, *step)


def _starts(init: st.Stmt | None) -> Iterator[tuple[ir.Symbol, ir.Expr]]:
    match init:
        case st.Declare(initializer=initializer) if initializer is not None:
            yield init.symbol, initializer
        case st.ExprStmt(expr=ir.Assign(op="", target=ir.Name(symbol=symbol), value=value)):
            yield symbol, value
        case st.Block():
            for inner in init.statements:
                yield from _starts(inner)


def _step(increment: ir.Expr | None, counter: ir.Symbol) -> tuple[ir.Expr, bool] | None:
    match increment:
        case ir.Unary(op="++x" | "x++" | "--x" | "x--") if _name(increment.operand) is counter:
            one = ir.Constant(1, ir.Scalar("int", 4, "int"), increment.where)
            return one, increment.op in ("++x", "x++")
        case ir.Assign(op="+" | "-") if _name(increment.target) is counter:
            return increment.value, increment.op == "+"
    return None


def _name(expression: ir.Expr) -> ir.Symbol | None:
    bare = without_casts(expression)
    return bare.symbol if isinstance(bare, ir.Name) else None


class Intervals:
    """The intervals of a kernel's values under some numbers."""

    def __init__(
        self, origins: Origins, definitions: Definitions, values: Mapping[Parameter, Any], block: Sequence[int],
        grid: Sequence[Any], places: Sequence[Interval],
    ) -> None:  # fmt: skip
        """`places` has for each axis between which numbers `blockIdx` lies."""
        self._origins, self._definitions, self._values = origins, definitions, values
        self._built_in: dict[str, list[Interval]] = {
            "threadIdx": [(0.0, extent - 1.0) for extent in block],
            "blockDim": [(float(extent), float(extent)) for extent in block],
            "gridDim": [(extent, extent) for extent in grid],
            "blockIdx": list(places),
        }
        self._known: dict[ir.Expr, Interval | None] = {}
        self._depth = 0

    def of(self, expression: ir.Expr) -> Interval | None:
        """None if it has none."""
        if expression in self._known:
            return self._known[expression]
        # One that is asked for on the way to itself has none.
        self._known[expression] = None
        if self._depth > _MOST_DEPTH:
            return None
        self._depth += 1
        found = self._known[expression] = self._of(expression)
        self._depth -= 1
        return found

    def _of(self, e: ir.Expr) -> Interval | None:
        match e:
            case ir.Constant(value=value) if isinstance(value, int):
                return float(value), float(value)
            case ir.Cast(type=ir.Scalar(kind="int" | "uint" | "bool")):
                return self.of(e.operand)
            case ir.Name():
                return self._named(e)
            case ir.Member():
                return self._member(e)
            case ir.Unary(op="+"):
                return self.of(e.operand)
            case ir.Unary(op="-"):
                own = self.of(e.operand)
                return None if own is None else (-own[1], -own[0])
            case ir.Conditional():
                return _joined(self.of(e.then), self.of(e.otherwise))
            case ir.Binary():
                one, other = self.of(e.left), self.of(e.right)
                return _OPERATIONS[e.op](one, other) if e.op in _OPERATIONS and one and other else None
            case ir.Call(name="min" | "max" | "umin" | "umax") if len(e.arguments) == 2:
                one, other = (self.of(argument) for argument in e.arguments)
                if one is None or other is None:
                    return None
                chosen = np.minimum if e.name.endswith("min") else np.maximum
                return chosen(one[0], other[0]), chosen(one[1], other[1])
        return None

    def _named(self, e: ir.Name) -> Interval | None:
        symbol = e.symbol
        plain = self._origins.of(e).plain
        if plain is not None and plain in self._values:
            return self._values[plain], self._values[plain]
        counted = self._definitions.counter(symbol)
        if counted is not None:
            return self._counter(counted)
        value = self._definitions.of(symbol)
        is_fixed = symbol.is_const and not isinstance(symbol.type, ir.ArrayType)
        if value is None and is_fixed and symbol.initializer and not self._definitions.is_changed(symbol):
            value = symbol.initializer()
        return self.of(value) if value is not None else None

    def _counter(self, counted: Counted) -> Interval | None:
        start, bound = self.of(counted.start), self.of(counted.bound)
        if start is None or bound is None:
            return None
        inside = 0 if counted.op in ("<=", ">=") else 1
        if counted.is_up:
            return start[0], np.maximum(start[1], bound[1] - inside)
        return np.minimum(start[0], bound[0] + inside), start[1]

    def _member(self, e: ir.Member) -> Interval | None:
        base = without_casts(e.base)
        if isinstance(base, ir.Name) and base.symbol.storage == "builtin":
            own = self._built_in.get(base.symbol.name)
            return own[_AXES.index(e.field)] if own is not None and e.field in _AXES else None
        plain = self._origins.of(e).plain
        return (self._values[plain], self._values[plain]) if plain is not None and plain in self._values else None


def may_be(condition: ir.Expr, wanted: bool, intervals: Intervals) -> Any:
    """Whether a condition may come out so for some thread, by world; None where nothing is known of it."""
    bare = without_casts(condition)
    if isinstance(bare, ir.Unary) and bare.op == "!":
        return may_be(bare.operand, not wanted, intervals)
    if isinstance(bare, ir.Binary) and bare.op in ("&&", "||"):
        one, other = (may_be(side, wanted, intervals) for side in (bare.left, bare.right))
        if one is None or other is None:
            return None
        return np.logical_and(one, other) if (bare.op == "&&") is wanted else np.logical_or(one, other)
    if not isinstance(bare, ir.Binary) or bare.op not in _OPPOSITE:
        own = intervals.of(bare)
        if own is None:
            return None
        return (own[0] != 0) | (own[1] != 0) if wanted else (own[0] <= 0) & (own[1] >= 0)
    left, right = intervals.of(bare.left), intervals.of(bare.right)
    if left is None or right is None:
        return None
    (low, high), (least, most) = left, right
    match bare.op if wanted else _OPPOSITE[bare.op]:
        case "<":
            return low < most
        case "<=":
            return low <= most
        case ">":
            return high > least
        case ">=":
            return high >= least
        case "==":
            return (low <= most) & (high >= least)
    return np.logical_not((low == high) & (least == most) & (low == least))


_OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


def _joined(one: Interval | None, other: Interval | None) -> Interval | None:
    if one is None or other is None:
        return None
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])


def _ends(combined: Callable[[Any, Any], Any], one: Interval, other: Interval) -> Interval:
    """Where the ends of both decide."""
    corners = [combined(a, b) for a in one for b in other]
    least, most = corners[0], corners[0]
    for corner in corners[1:]:
        least, most = np.minimum(least, corner), np.maximum(most, corner)
    return least, most


def _quotient(one: Interval, other: Interval) -> Interval | None:
    if np.any(other[0] <= 0):
        return None
    return _ends(lambda a, b: np.trunc(a / b), one, other)


def _rest(one: Interval, other: Interval) -> Interval | None:
    if np.any(other[0] <= 0) or np.any(one[0] < 0):
        return None
    modulus = other[1]
    low, high = np.floor_divide(one[0], modulus), np.floor_divide(one[1], modulus)
    is_one = (low == high) & (other[0] == other[1])
    least = np.where(is_one, one[0] - low * modulus, 0.0)
    return least, np.where(is_one, one[1] - low * modulus, np.minimum(modulus - 1, one[1]))


def _masked(one: Interval, other: Interval) -> Interval | None:
    is_point = np.all(one[0] == one[1]) and np.all(other[0] == other[1])
    if is_point:
        both = np.asarray(one[0]).astype(np.int64) & np.asarray(other[0]).astype(np.int64)
        return both.astype(np.float64), both.astype(np.float64)
    for mask, own in ((other, one), (one, other)):
        if np.all(mask[0] == mask[1]) and np.all(mask[0] >= 0):
            unit = mask[0] + 1
            if np.all(np.log2(unit) == np.floor(np.log2(unit))):
                return _rest(own, (unit, unit))
            return np.zeros_like(mask[0]), mask[0]
    return None


def _shifted(one: Interval, other: Interval) -> Interval | None:
    if np.any(other[0] < 0) or np.any(other[1] > 62):
        return None
    return _ends(lambda a, b: a * 2.0**b, one, other)


def _shifted_down(one: Interval, other: Interval) -> Interval | None:
    if np.any(other[0] < 0) or np.any(other[1] > 62):
        return None
    return _ends(lambda a, b: np.floor(a / 2.0**b), one, other)


_OPERATIONS: Mapping[str, Callable[[Interval, Interval], Interval | None]] = {
    "+": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "-": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "*": lambda a, b: _ends(lambda x, y: x * y, a, b),
    "/": _quotient,
    "%": _rest,
    "&": _masked,
    "<<": _shifted,
    ">>": _shifted_down,
}
