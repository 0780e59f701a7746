"""Powers of two among the numbers of a source, which may be of any size."""

from __future__ import annotations

from math import frexp


def is_power_of_two(value: int | float) -> bool:
    """Whether the absolute value is one; zero, infinity and what is no number are none. C has no limit for the digits
    of a constant, so that an integer may be beyond what a float or a machine's integer holds."""
    if isinstance(value, int):
        size = abs(int(value))
        return size != 0 and size & (size - 1) == 0
    return abs(frexp(value)[0]) == 0.5
