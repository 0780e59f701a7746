"""Asynchronous copies whose target is read while they are under way."""

from __future__ import annotations

from msgspec import Struct

from cudalint.facts.places import Frame, Place


class EarlyRead(Struct, frozen=True):
    """A read of bytes of shared memory that an asynchronous copy may not have written yet."""

    place: Place
    inlined_from: tuple[Frame, ...]
    array: str
    launch: int
    thread: tuple[int, int, int]
    """One that reads."""
    copied_at: Place
    copied_from: tuple[Frame, ...]
    """The calls that lead to the copy."""
    copier: tuple[int, int, int]
    """The thread that issues the copy."""
    waited_at: Place | None
    """The last wait between the two, which doesn't wait for this copy; None where there is none."""
    waited_from: tuple[Frame, ...] = ()
    kept: int = 0
    """How many groups that lets be under way."""
    groups: int = -1
    """How many groups are made between the copy's own and that wait; -1 where the copy is in no group yet."""
    assumptions: tuple[str, ...] = ()
    also_in: tuple[int, ...] = ()
    """Other launches of the kernel under which it is there."""
