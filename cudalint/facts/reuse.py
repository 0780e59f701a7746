"""Elements of global memory that several threads of a block load at the same time."""

from __future__ import annotations

from msgspec import Struct

from cudalint.facts.places import Frame, Place


class ReuseResult(Struct, frozen=True):
    """How a load is shared under one launch."""

    launch: int
    threads: float
    """Of a block that load each element in one iteration, on average."""
    elements: float
    """Different ones that a block loads in it."""
    iterations: float
    """Of the loop around the load, in each of which other elements are loaded."""
    executions: float
    """Of the load by warps, in the launch."""
    assumptions: tuple[str, ...] = ()


class Reuse(Struct, frozen=True):
    """A load in a loop."""

    place: Place
    array: str
    expression: str
    inlined_from: tuple[Frame, ...]
    results: tuple[ReuseResult, ...]
