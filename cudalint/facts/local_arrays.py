"""Arrays of a thread that are indexed by what isn't known when the kernel is compiled: registers have no addresses, so
that they are kept in local memory."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cudalint.facts.places import Frame, Place


class LocalArrayResult(Struct, frozen=True):
    """What accesses of the array take in one launch."""

    launch: int
    requests: float
    """Loads and stores of it by warps."""
    instructions: float
    """Of the whole launch."""
    assumptions: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """Of the launch's instructions."""
        return self.requests / self.instructions if self.instructions else 0.0


class IndexedAccess(Struct, frozen=True):
    """An access by such an index."""

    place: Place
    inlined_from: tuple[Frame, ...]
    operation: Literal["load", "store"]


class LocalArray(Struct, frozen=True):
    """An array of a thread, or a struct with one."""

    place: Place
    """Of its declaration."""
    name: str
    bytes: int
    """Of each thread."""
    elements: int
    accesses: tuple[IndexedAccess, ...]
    """In the order of the code."""
    is_small: bool
    """Whether the assembler has been seen to put arrays as small as this into registers all the same, and to choose
    among these."""
    results: tuple[LocalArrayResult, ...] = ()
