"""Barriers, who comes to them, and warp functions that rely on all lanes being there."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cudalint.facts.places import Frame, Place
from cudalint.reasons import ReasonKind

Parting = Literal["number", "data"]
"""How data splits threads: their own numbers are compared with it, or each of them finds its own."""
BarrierKind = Literal["syncthreads", "syncwarp", "cooperative-groups", "named", "grid"]


class BarrierResult(Struct, frozen=True):
    """Who comes to a barrier under one launch."""

    launch: int
    verdict: Literal["uniform", "divergent", "unknown"]
    """Whether all threads that the barrier waits for reach it, or some don't."""
    reason: str | None = None
    """What splits the threads, or why that is not known."""
    size: str | None = None
    """The size for which it does, where it does so for some only: `where n = 1025`."""
    returned: bool = False
    """The threads that are missing have left the kernel: the hardware waits for the others only."""
    tail: bool = False
    """So have only threads of blocks behind the first, in which the data ends."""
    unnamed: bool = False
    """Lanes come that the mask of a warp function doesn't name."""
    redundant: bool = False
    """It orders nothing, whatever the sizes and the data, also without the launch's other redundant barriers."""
    reason_kind: ReasonKind = "other"
    leaving: bool = False
    """The threads that are missing leave the kernel next, by whole warps, and come to no other barrier: the hardware
    waits for the others only."""
    missing: tuple[int, int, int] | None = None
    """One of those threads."""
    parting: Parting | None = None
    """Where it is not known whether all come: how data that the program does not rule out keeps some away."""
    source: str = ""
    """That data, in words: "`count` is read at line 7"."""


class Barrier(Struct, frozen=True):
    """A place in the source where threads wait for each other."""

    place: Place
    function: str
    inlined_from: tuple[Frame, ...]
    kind: BarrierKind
    results: tuple[BarrierResult, ...]
    is_implied: bool = False
    """It is no barrier of the source but a warp function with a mask, which makes the warp converge."""


class AbsentLane(Struct, frozen=True):
    """A shuffle in which a lane reads from one that takes no part, and what it gets is stored."""

    place: Place
    inlined_from: tuple[Frame, ...]
    launch: int
    thread: tuple[int, int, int]
    """One that reads so."""
    source: int
    """The lane that it reads from."""
    block: tuple[int, int, int]
    stored_at: Place
    size: str | None
    """The condition under which it is so, where it is for some sizes only."""
    assumptions: tuple[str, ...] = ()
    also_in: tuple[int, ...] = ()
    """Other launches of the kernel under which it is there."""


class UnmaskedCall(Struct, frozen=True):
    """A warp function of old, without a mask of the lanes that take part."""

    place: Place
    name: str
    inlined_from: tuple[Frame, ...] = ()
