"""What the operators of a program do to arrays of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudalint.host.values.arithmetic import Kind

Array = Any
"""An ndarray that broadcasts to [rows, threads], or a Python number."""

def pick(args: list[Array]) -> Array:
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


def quotient(a: Array, b: Array, kind: Kind) -> Array:
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


def remainder(a: Array, b: Array, kind: Kind) -> Array:
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


def integers(a: Array) -> Array:
    return a.astype(np.int64) if isinstance(a, np.ndarray) and a.dtype.kind in "bf" else a


def shifted_left(a: Array, b: Array, kind: Kind) -> Array:
    return np.left_shift(integers(np.asarray(a)), _clipped(b, 62))


def shifted_right(a: Array, b: Array, kind: Kind) -> Array:
    number = integers(np.asarray(a))
    if number.dtype == np.uint64:
        return np.right_shift(number, np.asarray(_clipped(b, 63)).astype(np.uint64))
    return np.right_shift(number, _clipped(b, 63))


def _clipped(distance: Array, most: int) -> Array:
    """How far is shifted. It is a plain number nearly always."""
    return max(0, min(distance, most)) if type(distance) is int else np.clip(distance, 0, most)


def total(a: Array, b: Array, kind: Kind) -> Array:
    return as_numbers(a) + as_numbers(b)


def as_numbers(a: Array) -> Array:
    """numpy adds booleans as a logical or; C adds them as 0 and 1."""
    if isinstance(a, (bool, np.bool_)):
        return int(a)
    return a.astype(np.int64) if isinstance(a, np.ndarray) and a.dtype.kind == "b" else a


def difference(a: Array, b: Array, kind: Kind) -> Array:
    return as_numbers(a) - as_numbers(b)


def product(a: Array, b: Array, kind: Kind) -> Array:
    return as_numbers(a) * as_numbers(b)


def conjunction(a: Array, b: Array, kind: Kind) -> Array:
    return integers(np.asarray(a)) & integers(np.asarray(b))


def disjunction(a: Array, b: Array, kind: Kind) -> Array:
    return integers(np.asarray(a)) | integers(np.asarray(b))


def exclusive_or(a: Array, b: Array, kind: Kind) -> Array:
    return integers(np.asarray(a)) ^ integers(np.asarray(b))


def rounded(x: Array) -> Array:
    """To the nearest whole number, halves away from zero."""
    return np.copysign(np.floor(np.abs(x) + 0.5), x)
