"""Neighbouring elements that a thread reads or writes one by one."""

from __future__ import annotations

from msgspec import Struct

from cudalint.facts.accesses import Operation
from cudalint.facts.places import Frame, Place


class NeighboursResult(Struct, frozen=True):
    """How often it does so under one launch."""

    launch: int
    executions: float
    """Of each of the accesses by warps."""
    instructions: float
    """That warps execute in the launch."""
    assumptions: tuple[str, ...] = ()


class Neighbours(Struct, frozen=True):
    """Accesses of one thread to elements that follow one another, the first of which is aligned to all of them."""

    place: Place
    """Of the first."""
    others: tuple[Place, ...]
    inlined_from: tuple[Frame, ...]
    operation: Operation
    array: str
    element_type: str
    element_bytes: int
    count: int
    results: tuple[NeighboursResult, ...]
