"""Functions of a library that a block computes together, and which block they were made for."""

from __future__ import annotations

from msgspec import Struct

from cudalint.facts.places import Frame, Place


class CollectiveResult(Struct, frozen=True):
    """Who comes under one launch."""

    launch: int
    threads: int
    """Of a block."""
    assumptions: tuple[str, ...] = ()


class CollectiveCall(Struct, frozen=True):
    """A place in the source at which a block calls `cub::BlockReduce<float, 128>(storage).Sum(x)` or its like."""

    place: Place
    name: str
    """Of the class: `BlockReduce`."""
    made_for: tuple[int, int, int]
    """The block, by the arguments of the class."""
    or_fewer: bool
    """The call says how many threads have something to add, so that fewer of them may come."""
    inlined_from: tuple[Frame, ...]
    results: tuple[CollectiveResult, ...]
