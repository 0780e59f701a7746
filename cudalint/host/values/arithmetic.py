"""The arithmetic of C on plain numbers: types by class and width, and what their operators come to on the device."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from cudalint.ir import nodes as ir

Number = int | float | bool


class Kind(NamedTuple):
    """A C arithmetic type: class (i, u, f, b) and width in bytes."""

    code: str
    bytes: int

    @property
    def is_float(self) -> bool:
        return self.code == "f"


I4, U4, I8, U8 = Kind("i", 4), Kind("u", 4), Kind("i", 8), Kind("u", 8)
F4, F8, BOOL = Kind("f", 4), Kind("f", 8), Kind("b", 1)
_KIND_CODES = {"int": "i", "uint": "u", "float": "f", "bool": "b", "void": "i"}


def kind_of(type_: ir.Type) -> Kind:
    """The kind of a scalar type; pointers and everything else count as 64-bit integers."""
    if isinstance(type_, ir.Scalar):
        return _kind(type_.kind, type_.bytes)
    return I8


@cache
def _kind(name: str, width: int) -> Kind:
    return BOOL if name == "bool" else Kind(_KIND_CODES[name], width or 4)


def wrap(value: Number, kind: Kind) -> Number:
    """`value` converted to `kind`, as C does on the device."""
    if kind.code == "f":
        return float(value)
    if kind.code == "b":
        return int(value != 0)
    if isinstance(value, float):
        if not math.isfinite(value):
            return 0
        value = int(value)
    span = 1 << (8 * kind.bytes)
    value = int(value) % span
    return value - span if kind.code == "i" and value >= span >> 1 else value


def quotient(a: Number, b: Number, kind: Kind) -> Number:
    if kind.is_float:
        return float(a) / float(b) if b else math.nan
    # A fraction may stand there for a number that the front end took for an integer.
    divisor = int(b)
    if not divisor:
        return 0
    quotient = abs(int(a)) // abs(divisor)
    return quotient if (a < 0) == (divisor < 0) else -quotient


def remainder(a: Number, b: Number, kind: Kind) -> Number:
    return int(a) - int(quotient(a, b, kind)) * int(b)


def shifted(a: Number, b: Number, left: bool) -> Number:
    if not 0 <= b < 64:
        return 0
    return int(a) << int(b) if left else int(a) >> int(b)


def either(a: Kind, b: Kind) -> Kind:
    """A kind that holds the values of both."""
    if a == b:
        return a
    if a.is_float or b.is_float:
        return a if a.is_float and (not b.is_float or a.bytes >= b.bytes) else b
    signed = [k.bytes for k in (a, b) if k.code == "i"]
    wide = max(a.bytes, b.bytes)
    if not signed:
        return Kind("u", wide)
    return Kind("i", wide if max(signed) == wide and a.bytes != b.bytes else min(8, 2 * wide))


MAX_TRIPS = 1 << 20
"""A loop that goes on for longer counts as this long."""


def first_failure(goes_on: Callable[[int], bool]) -> int:
    """The first k >= 0 for which `goes_on(k)` is false; linear to 64, then assuming that it stays false (bisection)."""
    for k in range(64):
        if not goes_on(k):
            return k
    low, high = 63, 128
    while goes_on(high):
        low, high = high, high * 2
        if high > MAX_TRIPS:
            return MAX_TRIPS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if goes_on(middle) else (low, middle)
    return high
