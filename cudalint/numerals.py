"""How figures, counts, extents and lists are written, and numbers read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_MOST_DIGITS: Final = 130
"""Of a number of 128 bits, and the prefix of its base."""


def figure(value: float) -> str:
    """A figure as short as it is right to two decimals: 32, 4.5, 0.33."""
    rounded = round(value, 2)
    return f"{rounded:.0f}" if abs(rounded) >= 1e6 or rounded % 1 == 0 else f"{rounded:g}"


def count(amount: float, singular: str, plural: str | None = None) -> str:
    """`1 sector`, `4.5 sectors`."""
    return f"{figure(amount)} {singular if round(amount, 2) == 1 else plural or singular + 's'}"


def dimensions(sizes: tuple[int, int, int]) -> str:
    """`32x8` for (32, 8, 1)."""
    x, y, z = sizes
    if z != 1:
        return f"{x}x{y}x{z}"
    return f"{x}x{y}" if y != 1 else str(x)


Index = tuple[int, int, int]


def thread(index: Index, block: Index = (0, 0, 0), always: bool = False) -> str:
    """`thread (3, 0, 0) of block (2, 1, 0)`; the first block is named where it is to be told from another."""
    return f"thread {_indices(index)}" + (f" of block {_indices(block)}" if always or any(block) else "")


def _indices(index: Index) -> str:
    x, y, z = index
    return f"({x}, {y}, {z})"


def enumeration(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


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
