"""Which lanes of a warp have one value after steps of a butterfly, whatever data it is.

A lane that adds what the lane at a distance of a power of two has, `x += __shfl_xor_sync(mask, x, 16)`, has what that
lane has then, to the bit: the sum is that of the same two numbers. What lanes at other distances had in common before
they still have. After the five steps of a warp all its lanes have one value.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from cudalint.execute.values import COMPUTED, Data, Value, is_common
from cudalint.hardware.requests import WARP_LANES

_SYMMETRIC: Final = frozenset({"+", "*", "&", "|", "^", "min", "max", "==", "!=", "&&", "||"})
"""Operators that give the same when their sides change places."""


class Butterfly(Data):
    """Data that lanes at some distances have in common."""

    __slots__ = ("among", "distance", "source")

    def __init__(self, among: int, source: Data | None = None, distance: int = 0) -> None:
        """`among` has the distances, powers of two, as bits; of what came by an exchange `source` is what lanes had
        before, and `distance` where they have it from."""
        super().__init__(source.kind if source is not None else "computed", is_common=among == WARP_LANES - 1)
        self.among, self.source, self.distance = among, source, distance


def among(value: Value) -> int:
    """The distances in a warp at which lanes have one value for certain, as bits."""
    if isinstance(value, Butterfly):
        return value.among
    return WARP_LANES - 1 if is_common(value) else 0


def exchanged(value: Data, distance: Value) -> Data:
    """What lanes have from those at a distance, which `__shfl_xor_sync` says."""
    is_step = type(distance) is int and 0 < distance < WARP_LANES and not distance & (distance - 1)
    return value if value.is_common or not is_step else Butterfly(among(value), value, distance)


def combined(op: str, left: Value, right: Value) -> Data:
    """What an operator makes of two values, at least one of which lanes at some distances have in common."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Butterfly) and one.source is other and op in _SYMMETRIC:
            return Butterfly(among(other) | one.distance)
    return of_all((left, right))


def of_all(values: Iterable[Value]) -> Data:
    """What a function makes of values, one of which is data."""
    shared = WARP_LANES - 1
    for value in values:
        shared &= among(value)
    return Butterfly(shared) if shared else COMPUTED
