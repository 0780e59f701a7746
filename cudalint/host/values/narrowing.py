"""Counts of more than 32 bits that host code keeps in 32: what they are, and how large they may be by their types."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from cudalint.host.values.arithmetic import I4, Kind
from cudalint.host.values.nodes import Node
from cudalint.ir import nodes as ir
from cudalint.ir.walk import without_casts

WRAPPING: Final = frozenset({"+", "*"})
"""The operators of which sums and products of sizes are made."""
_COUNTING: Final = frozenset({"numel"})
"""What libraries call the number of all elements of a tensor: a product of its sizes (PyTorch, `Tensor::numel`)."""
_MOST_DEPTH = 40


class Narrowed(Struct, frozen=True, eq=False):
    """A number of 32 bits that need not be the one that it is made of."""

    expression: ir.Expr
    """What is computed, before it is narrowed."""
    kind: Kind
    """What is left."""
    value: int | None = None
    """The number before, where it is known: it does not fit then."""
    wide: Node | None = None
    """The number before, where it is not."""
    is_explicit: bool = False
    """The source spells the conversion."""
    is_product: bool = False
    """It is computed in 32 bits, and not narrowed afterwards."""


Known = dict[Node, list[Narrowed]]
"""By what is left: functions of the same parameters may narrow the same number, each at a place of its own."""


def most_of(kind: Kind) -> int:
    """The largest integer of a kind."""
    return (1 << (8 * kind.bytes - (kind.code == "i"))) - 1


def note_narrowed(known: Known, narrow: Node, wide: Node, cast: ir.Cast) -> None:
    """Notes a conversion from 64 to 32 bits, if what is converted may not fit."""
    inner = without_casts(cast.operand)
    if wide.is_const:
        value = int(wide.value)
        if value > most_of(narrow.kind) and _is_computed(inner):
            _add(known, narrow, Narrowed(inner, narrow.kind, value, is_explicit=cast.explicit))
    elif narrow.op == "cast" and (_is_count(inner) or any(is_open_product(part) for part in parts_of(wide))):
        _add(known, narrow, Narrowed(inner, narrow.kind, wide=wide, is_explicit=cast.explicit))


def note_wrapped(
    known: Known, result: Node, left: object, right: object, expr: ir.Binary
) -> None:  # fmt: skip
    """Notes a sum or product of known numbers for which an `int` has no room."""
    if result.kind != I4 or not isinstance(left, Node) or not isinstance(right, Node):
        return
    if not (left.is_const and right.is_const) or left.kind.is_float or right.kind.is_float:
        return
    one, other = int(left.value), int(right.value)
    value = one + other if expr.op == "+" else one * other
    if value > most_of(I4):
        _add(known, result, Narrowed(expr, I4, value, is_product=True))


def _add(known: Known, node: Node, narrowed: Narrowed) -> None:
    """Each place once: functions are executed for each of their callers."""
    found = known.setdefault(node, [])
    if all(each.expression is not narrowed.expression for each in found):
        found.append(narrowed)


def _is_computed(expr: ir.Expr) -> bool:
    """Whether a number is computed, or a variable's, and not spelled: `(int) 0xffffffff` is meant to wrap."""
    return not isinstance(expr, ir.Constant)


def _is_count(expr: ir.Expr) -> bool:
    return isinstance(expr, ir.Call) and expr.name in _COUNTING


def is_open_product(node: Node) -> bool:
    """Whether a node is a product of two numbers, neither of them known, that 31 bits need not hold; with
    what is no whole number a size is scaled, which leaves it one size."""
    if node.op != "*" or node.kind.is_float or any(arg.is_const for arg in node.args):
        return False
    return upper(node) > most_of(I4)


def parts_of(node: Node) -> Iterator[Node]:
    """What a sum consists of, each with what it is divided or multiplied by."""
    pending, depth = [node], 0
    while pending and depth < _MOST_DEPTH:
        part, depth = pending.pop(), depth + 1
        yield part
        if part.op in ("+", "-", "cast", "*"):
            pending += part.args


def upper(node: Node, depth: int = 0) -> float:
    """The largest that a number may be by its type and by how it is computed; infinite where that leaves 64 bits."""
    most = float(most_of(node.kind)) if node.kind.bytes <= I4.bytes else math.inf
    if node.is_const:
        return float(node.value)
    if depth > _MOST_DEPTH or node.kind.is_float:
        return most
    args = [upper(arg, depth + 1) for arg in node.args] if node.op in _FOLLOWED else []
    match node.op:
        case "*":
            found = args[0] * args[1] if args[0] and args[1] else 0.0
        case "+":
            found = args[0] + args[1]
        case "-":
            found = args[0]
        case "/":
            found = args[0] / float(node.args[1].value) if _is_positive(node.args[1]) else args[0]
        case "%":
            found = min(args[0], args[1])
        case "min":
            found = min(args)
        case "max":
            found = max(args)
        case "select":
            found = max(args[1:])
        case "cast":
            found = args[0]
        case _:
            found = most
    return min(found, most)


_FOLLOWED: Final = frozenset({"*", "+", "-", "/", "%", "min", "max", "select", "cast"})


def _is_positive(node: Node) -> bool:
    return node.is_const and float(node.value) > 0
