"""The operations of the expression graph: what each comes to, of two plain numbers and of arrays of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from msgspec import Struct

from cudalint.host.values.arithmetic import U8, Kind, Number, quotient, remainder, shifted, wrap
from cudalint.host.values.nodes import Node

Array = Any
"""An ndarray that broadcasts with others, or one number."""


class Operation(Struct, frozen=True):
    """A binary operation."""

    number: Callable[[Number, Number, Kind], Number]
    """Of two plain numbers, before the result is wrapped to its kind."""
    array: Callable[[Array, Array, Kind], Array]
    """Of numbers in several worlds."""
    commutes: bool = False
    compares: bool = False
    """The result is a condition."""
    wraps: bool = False
    """What does not fit an unsigned number is cut off."""
    by_sign: bool = False
    """Large unsigned numbers are to be distinguished from negative ones."""


class Function(Struct, frozen=True):
    """A function of one floating-point number."""

    number: Callable[[float], float]
    array: Callable[[Array], Array]


# --- arrays ----------------------------------------------------------------------------------------------

_MOST_BYTES = 8
"""Of the numbers that are computed with."""


def converted(value: Array, kind: Kind) -> Array:
    array = np.asarray(value)
    if kind.is_float:
        return array.astype(np.float64)
    if array.dtype.kind == "f":
        array = np.nan_to_num(array, posinf=0.0, neginf=0.0).clip(-9.2e18, 9.2e18).astype(np.int64)
    # What does not fit is cut off; of 128 bits these are kept.
    return array.astype(f"{kind.code}{min(kind.bytes, _MOST_BYTES)}").astype(np.int64)


def _integers(a: Array) -> Array:
    array = np.asarray(a)
    return array.astype(np.int64) if array.dtype.kind in "bf" else array


def _summands(a: Array) -> Array:
    """numpy adds booleans as a logical or; C adds them as 0 and 1."""
    array = np.asarray(a)
    return array.astype(np.int64) if array.dtype.kind == "b" else array


def _quotients(a: Array, b: Array, kind: Kind) -> Array:
    if kind.is_float:
        return np.asarray(a, dtype=np.float64) / np.asarray(b, dtype=np.float64)
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype == np.uint64:
        return a // np.where(b == 0, np.uint64(1), b)
    a, b = a.astype(np.int64), b.astype(np.int64)
    b = np.where(b == 0, 1, b)
    floor = a // b
    return floor if kind.code == "u" else floor + ((a % b != 0) & ((a < 0) != (b < 0)))


def _remainders(a: Array, b: Array, kind: Kind) -> Array:
    """What division leaves, with the sign of the dividend; by 0, which no program may do, that is all."""
    if kind.is_float:
        return np.fmod(a, b)
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype == np.uint64:
        return np.where(b == 0, a, a % np.where(b == 0, np.uint64(1), b))
    a, b = a.astype(np.int64), b.astype(np.int64)
    safe = np.where(b == 0, 1, b)
    left = a % safe
    if kind.code != "u":
        left = np.where((left != 0) & ((a < 0) != (safe < 0)), left - safe, left)
    return np.where(b == 0, a, left)


def _shifted_right(a: Array, b: Array, kind: Kind) -> Array:
    number = _integers(a)
    distance = np.clip(b, 0, 63)
    return np.right_shift(number, np.asarray(distance).astype(np.uint64) if number.dtype == np.uint64 else distance)


def _rounded(x: Array) -> Array:
    """To the nearest whole number, halves away from zero."""
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def _picked(args: list[Array]) -> Array:
    index = np.clip(args[0], 0, len(args) - 2)
    result = args[-1]
    for position in range(len(args) - 3, -1, -1):
        result = np.where(index == position, args[position + 1], result)
    return result


def _as_unsigned(args: list[Array]) -> list[Array]:
    """Unsigned 64-bit numbers share the bits of signed ones; where some are beyond 2^63, that has to be seen."""
    arrays = [np.asarray(a) for a in args]
    if any(a.dtype.kind == "f" for a in arrays) or all(a.min(initial=0) >= 0 for a in arrays):
        return args
    return [a.astype(np.int64).astype(np.uint64) for a in arrays]


def _as_signed(result: Array) -> Array:
    """Back to the form in which all integers are kept."""
    array = np.asarray(result)
    return array.astype(np.int64) if array.dtype == np.uint64 else result


# --- the operations --------------------------------------------------------------------------------------


def _truth(function: Callable[[Number, Number], bool]) -> Callable[[Number, Number, Kind], Number]:
    return lambda a, b, kind: int(function(a, b))


OPERATIONS: Mapping[str, Operation] = {
    "+": Operation(lambda a, b, k: a + b, lambda a, b, k: _summands(a) + _summands(b), commutes=True, wraps=True),
    "-": Operation(lambda a, b, k: a - b, lambda a, b, k: _summands(a) - _summands(b), wraps=True),
    "*": Operation(lambda a, b, k: a * b, lambda a, b, k: _summands(a) * _summands(b), commutes=True, wraps=True),
    "/": Operation(quotient, _quotients, by_sign=True),
    "%": Operation(remainder, _remainders, by_sign=True),
    "<<": Operation(
        lambda a, b, k: shifted(a, b, True), lambda a, b, k: np.left_shift(_integers(a), np.clip(b, 0, 62)), wraps=True
    ),
    ">>": Operation(lambda a, b, k: shifted(a, b, False), _shifted_right, by_sign=True),
    "&": Operation(lambda a, b, k: int(a) & int(b), lambda a, b, k: _integers(a) & _integers(b), commutes=True),
    "|": Operation(lambda a, b, k: int(a) | int(b), lambda a, b, k: _integers(a) | _integers(b), commutes=True),
    "^": Operation(
        lambda a, b, k: int(a) ^ int(b), lambda a, b, k: _integers(a) ^ _integers(b), commutes=True, wraps=True
    ),
    "min": Operation(lambda a, b, k: min(a, b), lambda a, b, k: np.minimum(a, b), commutes=True, by_sign=True),
    "max": Operation(lambda a, b, k: max(a, b), lambda a, b, k: np.maximum(a, b), commutes=True, by_sign=True),
    "gcd": Operation(
        lambda a, b, k: math.gcd(int(a), int(b)), lambda a, b, k: np.gcd(a, b), commutes=True, by_sign=True
    ),
    "pow": Operation(lambda a, b, k: math.pow(a, b), lambda a, b, k: np.float_power(a, b)),
    "<": Operation(_truth(operator.lt), lambda a, b, k: np.less(a, b), compares=True, by_sign=True),
    "<=": Operation(_truth(operator.le), lambda a, b, k: np.less_equal(a, b), compares=True, by_sign=True),
    "==": Operation(_truth(operator.eq), lambda a, b, k: np.equal(a, b), commutes=True, compares=True),
    "!=": Operation(_truth(operator.ne), lambda a, b, k: np.not_equal(a, b), commutes=True, compares=True),
    "&&": Operation(
        _truth(lambda a, b: bool(a) and bool(b)), lambda a, b, k: np.logical_and(a, b), compares=True
    ),
    "||": Operation(
        _truth(lambda a, b: bool(a) or bool(b)), lambda a, b, k: np.logical_or(a, b), compares=True
    ),
}  # fmt: skip
"""By symbol. There is none for `>` and `>=`, which are `<` and `<=` with their sides changed (`SWAPPED`)."""
COMPARISONS = frozenset(op for op, known in OPERATIONS.items() if known.compares)
COMMUTATIVE = frozenset(op for op, known in OPERATIONS.items() if known.commutes)
SWAPPED = {">": "<", ">=": "<="}
FUNCTIONS: Mapping[str, Function] = {
    "sqrt": Function(math.sqrt, np.sqrt),
    "rsqrt": Function(lambda x: 1.0 / math.sqrt(x), lambda x: 1.0 / np.sqrt(x)),
    "floor": Function(math.floor, np.floor),
    "ceil": Function(math.ceil, np.ceil),
    "trunc": Function(math.trunc, np.trunc),
    "rint": Function(lambda x: float(round(x)), np.rint),
    "round": Function(lambda x: math.floor(x + 0.5) if x >= 0 else math.ceil(x - 0.5), _rounded),
    "fabs": Function(math.fabs, np.abs),
    "log": Function(math.log, np.log),
    "log2": Function(math.log2, np.log2),
    "log10": Function(math.log10, np.log10),
    "exp": Function(math.exp, np.exp),
    "exp2": Function(lambda x: 2.0**x, np.exp2),
    "sin": Function(math.sin, np.sin),
    "cos": Function(math.cos, np.cos),
    "tan": Function(math.tan, np.tan),
    "asin": Function(math.asin, np.arcsin),
    "acos": Function(math.acos, np.arccos),
    "atan": Function(math.atan, np.arctan),
}
"""By their C name without suffix."""
PLAIN = frozenset({*OPERATIONS, "!", "select", "cast", "function", "pick"})
"""Nodes that are computed of their arguments alone."""
_UNSIGNED_MASKS = {1: 0xFF, 2: 0xFFFF, 4: 0xFFFFFFFF}


def fold(op: str, a: Number, b: Number, kind: Kind) -> Number:
    """A binary operation on two numbers, before its result is wrapped; 0 where C leaves it open."""
    try:
        return OPERATIONS[op].number(a, b, kind)
    except (OverflowError, ValueError):
        return 0


def operate(node: Node, args: list[Array]) -> Array:
    """What a node of `PLAIN` is, given what its arguments are."""
    op, kind = node.op, node.kind
    operation = OPERATIONS.get(op)
    if operation is not None:
        if operation.by_sign and U8 in (kind, node.args[0].kind, node.args[1].kind):
            args = _as_unsigned(args)
        result = _as_signed(operation.array(args[0], args[1], kind))
        if operation.wraps and kind.code == "u" and kind.bytes in _UNSIGNED_MASKS:
            return result & _UNSIGNED_MASKS[kind.bytes]
        return result
    if op == "!":
        return np.logical_not(args[0])
    if op == "select":
        return np.where(args[0], args[1], args[2])
    if op == "cast":
        return converted(args[0], kind)
    if op == "function":
        return FUNCTIONS[str(node.payload)].array(np.asarray(args[0], dtype=np.float64))
    assert op == "pick"
    return _picked(args)


def number(node: Node, known: dict[int, Number | None]) -> Number | None:
    """The plain number of a value, as substitution would come to it, but without a node for every step. `known` has
    those of some nodes, by index, and gets those on the way; None where the arithmetic of constants does not tell."""
    if node.is_const:
        return node.value
    if node.index not in known:
        known[node.index] = _computed(node, known)
    return known[node.index]


def _computed(node: Node, known: dict[int, Number | None]) -> Number | None:
    op, args = node.op, node.args
    if op in OPERATIONS:
        a, b = number(args[0], known), number(args[1], known)
        return None if a is None or b is None else wrap(fold(op, a, b, node.kind), node.kind)
    if op not in ("!", "cast", "select"):
        return None
    first = number(args[0], known)
    if first is None:
        return None
    if op == "select":
        return number(args[1] if first else args[2], known)
    return int(not first) if op == "!" else wrap(first, node.kind)
