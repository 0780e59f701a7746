"""Between which numbers values of a graph lie where the symbols they are computed of lie between some numbers.

It is exact arithmetic: whole numbers of any length, and fractions where a program computes with floating-point numbers.
A value that does not fit its type is no number that a program may count on: such numbers are left out, and where none
is left, nothing is (`NOTHING`). What can't be followed (data, loops, roots) may be any number of its type.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from cudalint.host.values.arithmetic import BOOL, Kind
from cudalint.host.values.graph import Graph
from cudalint.host.values.nodes import Node
from cudalint.host.values.operations import COMPARISONS

Exact = int | Fraction
Range = tuple[Exact, Exact]
"""The least and the greatest, both included."""

NOTHING: Range = (1, 0)
_WIDEST_SHIFT = 62
_LARGEST_MASK = 1 << 40
_NO = (0, 0)
_YES = (1, 1)
_EITHER = (0, 1)


def of_kind(kind: Kind) -> Range:
    """All numbers of a type."""
    if kind == BOOL:
        return _EITHER
    bits = 8 * min(kind.bytes, 8)
    return (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind.code != "u" else (0, (1 << bits) - 1)


class Ranges:
    """The ranges of values in one box: a range for each open symbol, and what stands for all others."""

    def __init__(self, graph: Graph, box: Mapping[Node, Range]) -> None:
        self._graph, self._box = graph, box
        self._known: dict[int, Range | None] = {}

    def of(self, node: Node) -> Range:
        """Of a whole number."""
        found = self._of(node)
        return of_kind(node.kind) if found is None else found

    def _of(self, node: Node) -> Range | None:
        """None for what is not known at all."""
        known = self._known
        pending = [node]
        while pending:
            last = pending[-1]
            if last.index in known:
                pending.pop()
                continue
            missing = [part for part in last.args if part.index not in known] if last.op in _FOLLOWED else []
            if missing:
                pending += missing
                continue
            pending.pop()
            known[last.index] = self._computed(last)
        return known[node.index]

    def _computed(self, node: Node) -> Range | None:
        if node.is_const:
            if not math.isfinite(node.value):
                return None
            exact = Fraction(node.value) if node.kind.is_float else int(node.value)
            return exact, exact
        if node.op == "uniform":
            if node in self._box:
                return self._box[node]
            value = self._graph.choice(node).value
            return None if node.kind.is_float or not math.isfinite(value) else (int(value), int(value))
        parts = [self._known[part.index] for part in node.args] if node.op in _FOLLOWED else []
        if any(part == NOTHING for part in parts if part is not None):
            return self._with_nothing(node, parts)
        found = self._operated(node, parts)
        if found is None or found == NOTHING or node.kind.is_float:
            return found
        low, high = of_kind(node.kind)
        return (max(low, found[0]), min(high, found[1])) if found[0] <= high and found[1] >= low else NOTHING

    def _with_nothing(self, node: Node, parts: list[Range | None]) -> Range | None:
        """What is chosen may be the part that is something."""
        if node.op == "select" and parts[0] != NOTHING:
            if parts[0] == _YES:
                return parts[1]
            return parts[2] if parts[0] == _NO else None
        return NOTHING

    def _operated(self, node: Node, parts: list[Range | None]) -> Range | None:
        op = node.op
        if op == "select":
            return _selected(parts)
        if op == "&&" or op == "||":
            return _combined(op, parts)
        if any(part is None for part in parts) or not parts:
            return None
        one, *others = (part for part in parts if part is not None)
        if op == "!":
            return (1 - one[1], 1 - one[0])
        if op == "cast":
            return self._cast(node, one)
        if op == "function":
            return self._function(node, one)
        if node.kind.is_float and op == "/":
            return _fraction(one, others[0])
        is_broken = any(isinstance(end, Fraction) for part in (one, *others) for end in part)
        if op not in _OPERATIONS or (is_broken and op not in _EXACT):
            return None
        return _OPERATIONS[op](one, others[0])

    @staticmethod
    def _cast(node: Node, one: Range) -> Range:
        """A fraction is cut off."""
        return one if node.kind.is_float else (int(one[0]), int(one[1]))

    @staticmethod
    def _function(node: Node, one: Range) -> Range | None:
        rounded = _ROUNDED.get(str(node.payload))
        return None if rounded is None else (rounded(one[0]), rounded(one[1]))


def _selected(parts: list[Range | None]) -> Range | None:
    condition, then, otherwise = parts
    if condition == _YES:
        return then
    if condition == _NO:
        return otherwise
    if then is None or otherwise is None:
        return None
    return min(then[0], otherwise[0]), max(then[1], otherwise[1])


def _combined(op: str, parts: list[Range | None]) -> Range:
    decided = _NO if op == "&&" else _YES
    if decided in parts:
        return decided
    return _YES if all(part == _YES for part in parts) else _NO if all(part == _NO for part in parts) else _EITHER


# --- operations ------------------------------------------------------------------------------------------------


def _product(one: Range, other: Range) -> Range:
    corners = [a * b for a in one for b in other]
    return min(corners), max(corners)


def _quotient(one: Range, other: Range) -> Range | None:
    """No program divides by 0."""
    if other == (0, 0):
        return NOTHING
    if other[0] < 0:
        return None
    found = _fraction(one, (max(1, other[0]), other[1]))
    return None if found is None else (int(found[0]), int(found[1]))


def _fraction(one: Range, other: Range) -> Range | None:
    if other[0] <= 0:
        return None
    corners = [Fraction(a) / b for a in one for b in other]
    return min(corners), max(corners)


def _rest(one: Range, other: Range) -> Range | None:
    if other == (0, 0):
        return NOTHING
    if one[0] < 0 or other[0] < 0:
        return None
    other = (max(1, other[0]), other[1])
    if other[0] == other[1] and one[0] // other[0] == one[1] // other[0]:
        return one[0] % other[0], one[1] % other[0]
    if one[1] < other[0]:
        return one
    return 0, min(one[1], other[1] - 1)


def _shifted_left(one: Range, other: Range) -> Range | None:
    if other[0] < 0 or other[1] > _WIDEST_SHIFT:
        return None
    return _product(one, (1 << int(other[0]), 1 << int(other[1])))


def _shifted_right(one: Range, other: Range) -> Range | None:
    if other[0] < 0 or other[1] > _WIDEST_SHIFT:
        return None
    corners = [int(a) >> int(b) for a in one for b in other]
    return min(corners), max(corners)


def _masked(one: Range, other: Range) -> Range | None:
    if one[0] == one[1] and other[0] == other[1]:
        found = int(one[0]) & int(other[0])
        return found, found
    for own, mask in ((one, other), (other, one)):
        if mask[0] == mask[1] and own[0] >= 0:
            number = int(mask[0])
            if number >= 0 and number & (number + 1) == 0:
                return _rest(own, (number + 1, number + 1))
            if number < 0 and -number & (-number - 1) == 0:
                # `n & ~31`: the largest multiple that is not above it.
                return int(own[0]) & number, int(own[1]) & number
    if one[0] >= 0 and other[0] >= 0:
        return 0, min(one[1], other[1])
    return None


def _bitwise(combined: Callable[[int, int], int]) -> Callable[[Range, Range], Range | None]:
    def found(one: Range, other: Range) -> Range | None:
        if one[0] == one[1] and other[0] == other[1]:
            exact = combined(int(one[0]), int(other[0]))
            return exact, exact
        if one[0] < 0 or other[0] < 0:
            return None
        return 0, (1 << max(int(one[1]).bit_length(), int(other[1]).bit_length())) - 1

    return found


def _divisor(one: Range, other: Range) -> Range | None:
    if one[0] == one[1] and other[0] == other[1]:
        found = math.gcd(int(one[0]), int(other[0]))
        return found, found
    if one[0] < 1 or other[0] < 1:
        return None
    return 1, min(one[1], other[1])


def _less(one: Range, other: Range) -> Range:
    return _YES if one[1] < other[0] else _NO if one[0] >= other[1] else _EITHER


def _not_above(one: Range, other: Range) -> Range:
    return _YES if one[1] <= other[0] else _NO if one[0] > other[1] else _EITHER


def _equal(one: Range, other: Range) -> Range:
    if one[0] > other[1] or one[1] < other[0]:
        return _NO
    return _YES if one[0] == one[1] == other[0] == other[1] else _EITHER


def _unequal(one: Range, other: Range) -> Range:
    low, high = _equal(one, other)
    return 1 - high, 1 - low


_OPERATIONS: Mapping[str, Callable[[Range, Range], Range | None]] = {
    "+": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "-": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "*": _product,
    "/": _quotient,
    "%": _rest,
    "<<": _shifted_left,
    ">>": _shifted_right,
    "&": _masked,
    "|": _bitwise(lambda a, b: a | b),
    "^": _bitwise(lambda a, b: a ^ b),
    "gcd": _divisor,
    "min": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "max": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "<": _less,
    "<=": _not_above,
    "==": _equal,
    "!=": _unequal,
}
_EXACT = frozenset({"+", "-", "*", "min", "max", *COMPARISONS})
"""Operations that take fractions."""
_ROUNDED: Mapping[str, Callable[[Exact], Exact]] = {
    "ceil": math.ceil, "floor": math.floor, "trunc": int,
    "round": lambda x: math.floor(x + Fraction(1, 2)) if x >= 0 else math.ceil(x - Fraction(1, 2)),
}  # fmt: skip
_FOLLOWED = frozenset({*_OPERATIONS, "&&", "||", "!", "select", "cast", "function"})
