"""Shared memory that is read before anything was written to it."""

from __future__ import annotations

from msgspec import Struct

from cudalint.facts.places import Frame, Place


class Uninitialised(Struct, frozen=True):
    """The first read of a shared array that no write comes before."""

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
