"""Accesses to the shared memory of other blocks of a cluster that no barrier of the cluster orders."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cudalint.facts.accesses import Operation
from cudalint.facts.places import Frame, Place

UnorderedKind = Literal["before", "after", "beside"]
"""What nothing waits for: that the other block has begun and has written what is there; that this access is over when
the other block ends; or that its own access to the same bytes is made before this one, or after it."""


class ClusterRace(Struct, frozen=True):
    """An access to the shared memory of another block that may come too early or too late."""

    kind: UnorderedKind
    place: Place
    inlined_from: tuple[Frame, ...]
    operation: Operation
    array: str
    launch: int
    other: Place | None = None
    """The access of the block whose memory it is; None where that is its beginning or its end."""
    other_operation: Operation | None = None
    assumptions: tuple[str, ...] = ()
    also_in: tuple[int, ...] = ()
    """Other launches of the kernel under which it is there."""
