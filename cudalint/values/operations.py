"""What the operators and functions of a program do to arrays of numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cudalint.values.arithmetic import U8, Kind
from cudalint.values.nodes import Node

Array = Any
"""An ndarray that broadcasts to [rows, threads], or a Python number."""

_Operation = Callable[[Array, Array, Kind], Array]

_UNSIGNED_MASKS = {1: 0xFF, 2: 0xFFFF, 4: 0xFFFFFFFF}
_WRAPPING = frozenset({"+", "-", "*", "<<", "^"})


def operate(node: Node, args: list[Array]) -> Array:
    op, kind = node.op, node.kind
    if op in _ARITHMETIC:
        if op in _UNSIGNED_MATTERS and U8 in (kind, node.args[0].kind, node.args[1].kind):
            args = _as_unsigned(args)
        result = _as_signed(_ARITHMETIC[op](args[0], args[1], kind))
        if op in _WRAPPING and kind.code == "u" and kind.bytes in _UNSIGNED_MASKS:
            return result & _UNSIGNED_MASKS[kind.bytes]
        return result
    if op == "!":
        return np.logical_not(args[0])
    if op == "select":
        return np.where(args[0], args[1], args[2])
    if op == "cast":
        return convert(args[0], kind)
    if op == "function":
        return _FUNCTIONS[str(node.payload)](np.asarray(args[0], dtype=np.float64))
    if op == "pick":
        return _pick(args)
    raise AssertionError(f"no numbers for {op}")


_UNSIGNED_MATTERS = frozenset({"<", "<=", "min", "max", "/", "%", ">>"})


def _as_unsigned(args: list[Array]) -> list[Array]:
    """Unsigned 64-bit numbers share the bits of signed ones; where some are beyond 2^63, they have to be told apart."""
    arrays = [np.asarray(a) for a in args]
    if any(a.dtype.kind == "f" for a in arrays) or all(a.min(initial=0) >= 0 for a in arrays):
        return args
    return [a.astype(np.int64).view(np.uint64) if a.ndim else a.astype(np.int64).astype(np.uint64) for a in arrays]


def _as_signed(result: Array) -> Array:
    """Back to the form in which all integers are kept."""
    if isinstance(result, (np.ndarray, np.generic)) and result.dtype == np.uint64:
        return result.astype(np.int64)
    return result


def _pick(args: list[Array]) -> Array:
    index = np.clip(args[0], 0, len(args) - 2)
    result = args[-1]
    for position in range(len(args) - 3, -1, -1):
        result = np.where(index == position, args[position + 1], result)
    return result


_MOST_BYTES = 8
"""Of the numbers that are computed with."""


def convert(value: Array, kind: Kind) -> Array:
    array = np.asarray(value)
    if kind.code == "f":
        return array.astype(np.float64)
    if array.dtype.kind == "f":
        array = np.nan_to_num(array, posinf=0.0, neginf=0.0).clip(-9.2e18, 9.2e18).astype(np.int64)
    # What does not fit is cut off; of 128 bits these are kept.
    return array.astype(f"{kind.code}{min(kind.bytes, _MOST_BYTES)}").astype(np.int64)


def _divide(a: Array, b: Array, kind: Kind) -> Array:
    if kind.is_float:
        return np.asarray(a, dtype=np.float64) / np.asarray(b, dtype=np.float64)
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype == np.uint64:
        return a // np.where(b == 0, np.uint64(1), b)
    a, b = a.astype(np.int64), b.astype(np.int64)
    b = np.where(b == 0, 1, b) if b.ndim else (b if b else np.int64(1))
    floor = a // b
    if kind.code == "u" or (a.min(initial=0) >= 0 and b.min() > 0):
        return floor
    return floor + ((a % b != 0) & ((a < 0) != (b < 0)))


def _remainder(a: Array, b: Array, kind: Kind) -> Array:
    """What division leaves; by 0, which no program may do, that is all."""
    if kind.is_float:
        return np.fmod(a, b)
    a, b = np.asarray(a), np.asarray(b)
    zero = b == 0
    if a.dtype == np.uint64:
        return np.where(zero, a, a % np.where(zero, np.uint64(1), b))
    a, b = a.astype(np.int64), b.astype(np.int64)
    safe = np.where(zero, 1, b) if zero.any() else b
    # numpy divides by one number several times as fast as it finds remainders.
    left = a - a // safe * safe
    if kind.code != "u" and (a.min(initial=0) < 0 or b.min() < 0):
        # What C leaves has the sign of the dividend.
        left = np.where((left != 0) & ((a < 0) != (safe < 0)), left - safe, left)
    return np.where(zero, a, left) if zero.any() else left


def _integers(a: Array) -> Array:
    return a.astype(np.int64) if isinstance(a, np.ndarray) and a.dtype.kind in "bf" else a


def _shift_left(a: Array, b: Array, kind: Kind) -> Array:
    return np.left_shift(_integers(np.asarray(a)), _clipped(b, 62))


def _shift_right(a: Array, b: Array, kind: Kind) -> Array:
    number = _integers(np.asarray(a))
    if number.dtype == np.uint64:
        return np.right_shift(number, np.asarray(_clipped(b, 63)).astype(np.uint64))
    return np.right_shift(number, _clipped(b, 63))


def _clipped(distance: Array, most: int) -> Array:
    """How far is shifted. It is a plain number nearly always."""
    return max(0, min(distance, most)) if type(distance) is int else np.clip(distance, 0, most)


def _plus(a: Array, b: Array, kind: Kind) -> Array:
    return as_numbers(a) + as_numbers(b)


def as_numbers(a: Array) -> Array:
    """numpy adds booleans as a logical or; C adds them as 0 and 1."""
    if isinstance(a, (bool, np.bool_)):
        return int(a)
    return a.astype(np.int64) if isinstance(a, np.ndarray) and a.dtype.kind == "b" else a


_ARITHMETIC: Mapping[str, _Operation] = {
    "+": _plus,
    "-": lambda a, b, k: as_numbers(a) - as_numbers(b),
    "*": lambda a, b, k: as_numbers(a) * as_numbers(b),
    "/": _divide,
    "%": _remainder,
    "<<": _shift_left,
    ">>": _shift_right,
    "&": lambda a, b, k: _integers(np.asarray(a)) & _integers(np.asarray(b)),
    "|": lambda a, b, k: _integers(np.asarray(a)) | _integers(np.asarray(b)),
    "^": lambda a, b, k: _integers(np.asarray(a)) ^ _integers(np.asarray(b)),
    "min": lambda a, b, k: np.minimum(a, b),
    "max": lambda a, b, k: np.maximum(a, b),
    "pow": lambda a, b, k: np.float_power(a, b),
    "<": lambda a, b, k: np.less(a, b),
    "<=": lambda a, b, k: np.less_equal(a, b),
    "==": lambda a, b, k: np.equal(a, b),
    "!=": lambda a, b, k: np.not_equal(a, b),
    "&&": lambda a, b, k: np.logical_and(a, b),
    "||": lambda a, b, k: np.logical_or(a, b),
}
_FUNCTIONS: Mapping[str, Any] = {
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "fabs": np.abs,
    "log2": np.log2,
    "log": np.log,
    "log10": np.log10,
    "exp": np.exp,
    "exp2": np.exp2,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "rint": np.rint,
    "trunc": np.trunc,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
}
