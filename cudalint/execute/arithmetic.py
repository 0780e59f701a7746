"""C's arithmetic on plain numbers and on arrays of them, with its conversions and its wrap-around.

Source: the C++ standard, [expr.arith.conv], [conv.integral]; divisions of integers truncate toward zero, [expr.mul].
Overflow of signed integers wraps, as the machine's does.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from cudalint.execute.values import COMPUTED, Data
from cudalint.ir import nodes as ir

_DTYPES: Final[dict[tuple[str, int], np.dtype[Any]]] = {
    ("int", 1): np.dtype(np.int8), ("int", 2): np.dtype(np.int16), ("int", 4): np.dtype(np.int32),
    ("int", 8): np.dtype(np.int64), ("uint", 1): np.dtype(np.uint8), ("uint", 2): np.dtype(np.uint16),
    ("uint", 4): np.dtype(np.uint32), ("uint", 8): np.dtype(np.uint64), ("bool", 1): np.dtype(np.bool_),
    ("float", 4): np.dtype(np.float32), ("float", 8): np.dtype(np.float64),
}  # fmt: skip
_WIDEST: Final[np.dtype[Any]] = np.dtype(np.int64)
COMPARISONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_PLAIN: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip
COMPARING: Final = frozenset(COMPARISONS)


def dtype_of(type_: ir.Scalar) -> np.dtype[Any]:
    """How arrays hold numbers of a type; half-precision floats and wider integers as the nearest that numpy has."""
    found = _DTYPES.get((type_.kind, type_.bytes))
    if found is not None:
        return found
    return np.dtype(np.float32) if type_.kind == "float" else _WIDEST


def wrapped(value: int | float | bool, type_: ir.Scalar) -> Any:
    """A plain number as one of a type; data for what is no number of it."""
    if type_.kind == "bool":
        return bool(value)
    if type_.kind == "float":
        try:
            return float(np.float32(value)) if type_.bytes == 4 else float(value)
        except OverflowError:
            return COMPUTED
    if isinstance(value, float):
        if value != value or abs(value) >= 2.0**63:
            return COMPUTED  # What such a conversion gives is undefined.
        value = int(value)
    bits = 8 * type_.bytes
    if type_.kind == "int":
        half = 1 << (bits - 1)
        return value if -half <= value < half else (int(value) + half) % (1 << bits) - half
    return value if 0 <= value < (1 << bits) else int(value) % (1 << bits)


def converted(value: Any, type_: ir.Scalar) -> Any:
    """A number as one of a scalar type; data stays data."""
    kind = type(value)
    if kind is np.ndarray:
        dtype = dtype_of(type_)
        if value.dtype == dtype:
            return value
        return value != 0 if type_.kind == "bool" else value.astype(dtype)
    return wrapped(value, type_) if kind is not Data else value


def binary(op: str, left: Any, right: Any, type_: ir.Scalar) -> Any:
    """A built-in operator on two numbers, of which neither is data; `type_` is that of the result, and of a comparison
    that of its operands does not matter: they are of one type by now."""
    plain = type(left) is not np.ndarray and type(right) is not np.ndarray
    compare = COMPARISONS.get(op)
    if compare is not None:
        return compare(left, right) if plain else compare(*_comparable(left, right))
    return _plain(op, left, right, type_) if plain else _arrays(op, left, right, type_)


def _comparable(left: Any, right: Any) -> tuple[Any, Any]:
    """Both sides of a comparison. Plain numbers that an array's type can't hold are compared as wide ones."""
    if type(left) is not np.ndarray:
        right, left = _comparable(right, left)
        return left, right
    if type(right) is not np.ndarray and left.dtype.kind in "iu" and isinstance(right, int):
        info = np.iinfo(left.dtype)
        if not info.min <= right <= info.max:
            return left.astype(object), right
    return left, right


def _plain(op: str, left: Any, right: Any, type_: ir.Scalar) -> Any:
    try:
        if op in _PLAIN:
            found = _PLAIN[op](left, right)
        elif op == "/":
            if type_.kind == "float":
                found = left / right
            else:
                found = abs(left) // abs(right)
                found = found if (left < 0) == (right < 0) else -found
        elif op == "%":
            found = abs(left) % abs(right)
            found = -found if left < 0 else found
        elif op == "<<":
            found = left << (right & (8 * type_.bytes - 1))
        elif op == ">>":
            found = left >> (right & (8 * type_.bytes - 1))
        else:
            return COMPUTED
    except (ZeroDivisionError, OverflowError, TypeError):
        return COMPUTED
    return wrapped(found, type_)


def _arrays(op: str, left: Any, right: Any, type_: ir.Scalar) -> Any:
    dtype = dtype_of(type_)
    left, right = _as(left, dtype, type_), _as(right, dtype, type_)
    if isinstance(left, Data) or isinstance(right, Data):
        return COMPUTED
    if op in _PLAIN:
        if dtype.kind == "f" and op in "&|^":
            return COMPUTED
        return _PLAIN[op](left, right)
    if op in ("<<", ">>"):
        if dtype.kind not in "iu":
            return COMPUTED
        by = right & dtype.type(8 * dtype.itemsize - 1)
        return left << by if op == "<<" else left >> by
    if op in ("/", "%"):
        return _divided(op, left, right, dtype)
    return COMPUTED


def _as(value: Any, dtype: np.dtype[Any], type_: ir.Scalar) -> Any:
    if type(value) is np.ndarray:
        return value if value.dtype == dtype else value.astype(dtype)
    plain = wrapped(value, type_)
    if isinstance(plain, Data):
        return plain
    try:
        return dtype.type(plain)
    except OverflowError:
        return COMPUTED  # One of 128 bits that arrays don't hold.


def _divided(op: str, left: Any, right: Any, dtype: np.dtype[Any]) -> Any:
    """Lanes that divide by zero get what a division by one gives: what the machine has there nobody may use."""
    if dtype.kind == "f":
        return left / right if op == "/" else COMPUTED
    right = np.where(right == 0, dtype.type(1), right)
    if dtype.kind == "u" or (np.min(left) >= 0 and np.min(right) > 0):
        return left // right if op == "/" else left % right
    quotient = (np.sign(left) * np.sign(right) * (np.abs(left) // np.abs(right))).astype(dtype)
    return quotient if op == "/" else (left - quotient * right).astype(dtype)
