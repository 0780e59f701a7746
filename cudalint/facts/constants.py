"""Loads of constant memory at addresses that differ between the lanes of a warp."""

from __future__ import annotations

from msgspec import Struct

from cudalint.facts.places import Frame, Place


class ConstantResult(Struct, frozen=True):
    """What a load takes under one launch."""

    launch: int
    addresses: float
    """Different words that a warp wants at once, on average: it takes as many turns."""
    most: int
    """Of one warp."""
    requests: float
    """By warps in the launch."""
    assumptions: tuple[str, ...] = ()


class ConstantLoad(Struct, frozen=True):
    """A place in the source at which a `__constant__` array is read."""

    place: Place
    array: str
    inlined_from: tuple[Frame, ...]
    results: tuple[ConstantResult, ...]
