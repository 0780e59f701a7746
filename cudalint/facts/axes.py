"""Axes of a launch that its kernel does not read."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cudalint.facts.places import Place

Axis = Literal["x", "y", "z"]


class UnreadAxis(Struct, frozen=True):
    """An axis along which all blocks of the grid, or all threads of a block, do the same."""

    launch: int
    axis: Axis
    extent: int
    """Blocks, or threads."""
    of_block: bool
    """Whether it is one of the block, and not of the grid."""
    store: Place
    """A store to global memory that all of them make."""
    array: str
    """Where that goes to."""
    assumptions: tuple[str, ...] = ()
