"""Rests modulo powers of two, and what operations make of them."""

from __future__ import annotations

from typing import NamedTuple

MODULUS = 256
"""An allocation's alignment: no access needs more."""


class Residue(NamedTuple):
    """The value is `rest` modulo `modulus`, a power of two; modulus 1 says nothing."""

    rest: int
    modulus: int

UNKNOWN = Residue(0, 1)


def power_of_two(number: int) -> int:
    """The largest power of two that divides a number, up to the modulus that is of interest."""
    return min(number & -number, MODULUS) if number else MODULUS


def residue(rest: int, modulus: int) -> Residue:
    return Residue(rest % modulus, modulus)


def total(a: Residue, b: Residue) -> Residue:
    return residue(a.rest + b.rest, min(a.modulus, b.modulus))


def difference(a: Residue, b: Residue) -> Residue:
    return residue(a.rest - b.rest, min(a.modulus, b.modulus))


def product(a: Residue, b: Residue) -> Residue:
    """(r + mx)(s + ny) = rs + rny + smx + mnxy."""
    modulus = min(map(power_of_two, (a.rest * b.modulus, b.rest * a.modulus, a.modulus * b.modulus)))
    return residue(a.rest * b.rest, modulus)


def conjunction(a: Residue, b: Residue) -> Residue:
    """The low bits that both know; and zeros at the end of a known one are zeros of the result."""
    modulus = min(a.modulus, b.modulus)
    zeros = max(power_of_two(x.rest) if x.rest else x.modulus for x in (a, b))
    return residue(a.rest & b.rest if modulus >= zeros else 0, max(modulus, zeros))


def remainder(a: Residue, b: Residue) -> Residue:
    """a - qb, for some q."""
    divisor = min(b.modulus, power_of_two(b.rest) if b.rest else b.modulus)
    return residue(a.rest, min(a.modulus, divisor))


def disjunction(a: Residue, b: Residue) -> Residue:
    return residue(a.rest | b.rest, min(a.modulus, b.modulus))


def exclusive_or(a: Residue, b: Residue) -> Residue:
    return residue(a.rest ^ b.rest, min(a.modulus, b.modulus))
