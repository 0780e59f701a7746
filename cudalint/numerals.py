"""How figures and counts are written, and read."""

from __future__ import annotations

from typing import Final

_MOST_DIGITS: Final = 130
"""Of a number of 128 bits, and the prefix of its base."""


def figure(value: float) -> str:
    """A figure as short as it is right to two decimals: 32, 4.5, 0.33."""
    rounded = round(value, 2)
    return f"{rounded:.0f}" if rounded == int(rounded) else f"{rounded:g}"


def count(amount: float, singular: str, plural: str | None = None) -> str:
    """`1 sector`, `4.5 sectors`."""
    return f"{figure(amount)} {singular if round(amount, 2) == 1 else plural or singular + 's'}"


def whole(text: str, base: int = 10) -> int | None:
    """A whole number as a program's text spells it, by Python's rules for `base`; None for what is none, or what no
    type could hold. Python itself refuses to read some thousands of digits."""
    sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
    if len(digits) > _MOST_DIGITS and base == 10:
        digits = digits.lstrip("0") or "0"
    if len(digits) > _MOST_DIGITS:
        return None
    try:
        return int(sign + digits, base)
    except ValueError:
        return None
