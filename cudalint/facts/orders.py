"""How blocks wait for each other, and what they announce to others."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cudalint.facts.places import Frame, Place

Whom = Literal["all", "later", "earlier", "data"]
"""All blocks of the grid; one with a larger or with smaller numbers only; whichever loaded data says."""


class BlockWait(Struct, frozen=True):
    """A loop in which a block waits for what other blocks of its grid do."""

    place: Place
    """Of the load that it repeats."""
    inlined_from: tuple[Frame, ...]
    array: str
    launch: int
    whom: Whom
    written_at: Place
    """Where the blocks do what is waited for."""
    blocks: int
    """Of a grid that is larger than what is resident at one time."""
    resident: int
    """Blocks that are resident at one time, at most."""
    size: tuple[str, int] | None
    """The number that makes the grid as large; None where the launch says it."""
    also_in: tuple[int, ...] = ()
    """Other launches of the kernel under which it is there."""


class PlainSpin(Struct, frozen=True):
    """A loop that loads one place until somebody changes it, of which the compiler is not told that somebody may."""

    place: Place
    inlined_from: tuple[Frame, ...]
    array: str
    launch: int
    also_in: tuple[int, ...] = ()
    """Other launches of the kernel under which it is there."""


class Publication(Struct, frozen=True):
    """A flag or a counter by which a thread tells others of something too early."""

    place: Place
    """Where it is set."""
    inlined_from: tuple[Frame, ...]
    flag: str
    launch: int
    thread: tuple[int, int, int]
    other: Place
    """Where what is announced is written; where others still wait for a counter that is set back."""
    array: str
    """What is announced; the counter itself where that is set back."""
    lacks: Literal["barrier", "fence", "turn"]
    """What has to stand between the two: other threads of the block may not have written yet; what was written may not
    be seen yet; other blocks may not have found yet what they wait for."""
    read_at: Place | None = None
    """Where another block reads what is announced."""
    also_in: tuple[int, ...] = ()
    """Other launches of the kernel under which it is there."""
