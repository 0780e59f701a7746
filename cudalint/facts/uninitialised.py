"""Shared memory that is read before anything was written to it."""

from __future__ import annotations

from msgspec import Struct

from cudalint.facts.places import Frame, Place


class Uninitialised(Struct, frozen=True):
    """A read of a shared array, or of an element of it, that no write comes before."""

    place: Place
    inlined_from: tuple[Frame, ...]
    array: str
    launch: int
    thread: tuple[int, int, int]
    """One that reads."""
    is_atomic: bool
    """It adds to what is there."""
    written_at: Place | None
    """Where it is written for the first time, later; None where nothing ever does."""
    assumptions: tuple[str, ...] = ()
    block: tuple[int, int, int] = (0, 0, 0)
    """Of the thread."""
    absent: tuple[int, int, int] | None = None
    """Of an element that threads write in other blocks, at `written_at`: the one that would here, and does not."""
    has_returned: bool = False
    """That thread has left the kernel."""
    size: str | None = None
    """The condition under which there is such an element, where there is one for some sizes only."""
    also_in: tuple[int, ...] = ()
    """Other launches of the kernel under which it is there."""
