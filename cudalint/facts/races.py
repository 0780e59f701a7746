"""Accesses that nothing orders, and the barriers that would."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cudalint.facts.accesses import Operation
from cudalint.facts.places import Frame, Place

Benign = Literal["same-value", "unused-read", "same-branch"]
"""Why the outcome of a race is the same in either order: what is stored is, nobody uses what is read, or whoever comes
first makes all stores that it decides about."""


class RaceEnd(Struct, frozen=True):
    """One of the two accesses of a race, and the thread that makes it."""

    place: Place
    operation: Operation
    thread: tuple[int, int, int]
    block: tuple[int, int, int]
    array: str = ""
    """What the array is called there: a launch may pass one array for several parameters."""
    inlined_from: tuple[Frame, ...] = ()


class Insertion(Struct, frozen=True):
    """A text that a change of the source puts in at a place without extent."""

    place: Place
    text: str


class BarrierFix(Struct, frozen=True):
    """A barrier that orders the two ends of a race, as the model has tried."""

    call: Literal["__syncthreads", "__syncwarp"]
    place: Place
    where: Literal["before", "end"]
    """Before the statement at the place, or at the end of the body of the loop there."""
    insertions: tuple[Insertion, ...] = ()
    """What puts it there; none where the text is not plain."""


class Race(Struct, frozen=True):
    """Two accesses to the same bytes that nothing orders."""

    space: Literal["shared", "global"]
    array: str
    certainty: Literal["certain", "possible"]
    launch: int
    """That the threads and the element are of."""
    first: RaceEnd
    second: RaceEnd
    element: str
    """The element that both touch, as the source would spell it, or does where loaded data decides which one it is."""
    reason: str | None = None
    """What a possible race depends on; of a certain one the sizes that it was found for, where they are special."""
    size: str | None = None
    """The plain size that it depends on, where it is there for most sizes."""
    usual: bool = False
    """Possible, and there as soon as two of the loaded numbers are equal, as in a histogram."""
    by_data: bool = False
    """Loaded data decides which element it is, so that the two threads stand for any."""
    reach: Literal["warp", "block", "grid"] = "block"
    """What the two threads share: the warp, the block, or only the grid."""
    across: bool = False
    """The second access belongs to a later iteration of a loop around both."""
    one_access: bool = False
    """One access that several threads make, and not two that a macro puts at one place."""
    fix: BarrierFix | None = None
    lack: int | None = None
    """A number that races of a kernel have in common which lack the same barrier, or those of the same steps of a warp.
    """
    sizes: tuple[tuple[str, int], ...] = ()
    """What nobody gives of the element's address, and the values for which the two threads meet there."""
    fence_before: Place | None = None
    """The atomic by which the last block knows that it is the last, where it comes between the two: what lacks is a
    memory fence before it."""

    benign: Benign | None = None
    """Why the outcome is the same in either order; None where it may differ."""
    also_in: tuple[int, ...] = ()
    """Other launches of the kernel in which it is there as surely."""

    @property
    def is_reportable(self) -> bool:
        """Certain races, and those that are there for most sizes of the problem or for ordinary data."""
        return self.certainty == "certain" or self.size is not None or self.usual

    @property
    def is_lock_step(self) -> bool:
        """Whether a barrier of the warp would do, as far as it goes: one instruction that stores to one place in
        several lanes is a race whatever the warp does."""
        return self.reach == "warp" and (self.across or not self.one_access)
