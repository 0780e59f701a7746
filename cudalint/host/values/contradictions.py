"""Conditions that leave no number: `n <= 2` and `n == 256`, `type == Half` and `type == Double`."""

from __future__ import annotations

import math
from collections.abc import Collection

from cudalint.host.values.arithmetic import BOOL, wrap
from cudalint.host.values.nodes import Node

_Range = tuple[int | float, int | float]


def exclude_each_other(conditions: Collection[Node]) -> bool:
    """Whether some conditions compare one value with numbers so that none is left, however much arithmetic stands for
    the value, or one of them is what another one denies."""
    held, ends, others = set(conditions), dict[Node, _Range](), dict[Node, set[int | float]]()
    for condition in conditions:
        if condition.op == "!" and condition.args[0] in held:
            return True
        compared = _compared(condition)
        if compared is None:
            continue
        value, low, high = compared
        if _is_unequal(condition):
            others.setdefault(value, set()).add(low)
        else:
            known = ends.get(value, (-math.inf, math.inf))
            ends[value] = max(low, known[0]), min(high, known[1])
    return any(low > high or (low == high and low in others.get(value, ())) for value, (low, high) in ends.items())


def _compared(condition: Node) -> tuple[Node, int | float, int | float] | None:
    """The integer that a condition compares with a number, and the least and the greatest value that this lets it have;
    for `!=`, the one that it hasn't."""
    is_negated = condition.op == "!"
    inner = condition.args[0] if is_negated else condition
    if inner.op not in ("<", "<=", "==", "!=") or any(argument.kind.is_float for argument in inner.args):
        return None
    a, b = inner.args
    if a.is_const == b.is_const:
        return None
    if inner.op in ("==", "!="):
        value, end = (b, a.value) if a.is_const else (a, b.value)
        while _keeps_all_bits(value) and wrap(wrap(end, value.args[0].kind), value.kind) == end:
            value, end = value.args[0], wrap(end, value.args[0].kind)
        return value, end, end
    is_strict = (inner.op == "<") != is_negated
    # `!(a < b)` is `b <= a`.
    small, large = (b, a) if is_negated else (a, b)
    if small.is_const:
        return large, small.value + is_strict, math.inf
    return small, -math.inf, large.value - is_strict


def _is_unequal(condition: Node) -> bool:
    return condition.op == "!=" or (condition.op == "!" and condition.args[0].op == "==")


def _keeps_all_bits(node: Node) -> bool:
    """Whether a node is the conversion of an integer to one that is at least as wide."""
    return node.op == "cast" and not node.kind.is_float and not node.args[0].kind.is_float and (
        node.args[0].kind.bytes <= node.kind.bytes and BOOL not in (node.kind, node.args[0].kind)
    )
