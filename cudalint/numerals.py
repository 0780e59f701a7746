"""How figures and counts are written."""

from __future__ import annotations


def figure(value: float) -> str:
    """A figure as short as it is right to two decimals: 32, 4.5, 0.33."""
    rounded = round(value, 2)
    return f"{rounded:.0f}" if rounded == int(rounded) else f"{rounded:g}"


def count(amount: float, singular: str, plural: str | None = None) -> str:
    """`1 sector`, `4.5 sectors`."""
    return f"{figure(amount)} {singular if round(amount, 2) == 1 else plural or singular + 's'}"
