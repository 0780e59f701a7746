"""Numbers of 32 bits that indices and counts are kept in, and that some size that the code admits does not fit."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cudalint.facts.places import Frame, Place

OverflowGround = Literal["launch", "guard", "sibling", "widened", "count", "sizes"]
"""Why a size that does not fit is one that the code admits. `launch`: a launch in sight has it. `guard`: an index of 32
bits is compared with a size of 64. `sibling`: the same product is computed in 64 bits elsewhere in the kernel.
`widened`: the product is computed in 32 bits, and converted to 64 afterwards. `count`: host code keeps a number of
elements, which it has in 64 bits, in 32. `sizes`: it is a product of several sizes that nothing in sight bounds."""


class Overflow(Struct, frozen=True):
    """A place at which a number is computed in 32 bits, or cut off to them."""

    place: Place
    text: str
    """What is computed there, as the source spells it."""
    ground: OverflowGround
    is_signed: bool
    inlined_from: tuple[Frame, ...] = ()
    first_factor: Place | None = None
    """The factor at which a cast makes all that is computed 64 bits wide."""
    because: Place | None = None
    """What has 64 bits: the guard, or the same product."""
    because_text: str = ""
    value: int | None = None
    """What it comes to in a launch in sight."""
    thread: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    """Of the first thread for which it does not fit, in a launch in sight; None in host code."""
    accesses: tuple[Place, ...] = ()
    """Whose addresses are wrong for it in a launch in sight."""
    in_host: bool = False
    is_converted: bool = False
    """It is computed in 64 bits, or without a sign, and cut off to 32 or given one then."""
    is_explicit: bool = False
    """By a cast that the source spells."""
    is_requirement: bool = False
    """Whether the sizes that it doesn't fit may well be none that anybody means."""
    launches: tuple[int, ...] = ()
    """The launches of the kernel that it is there in."""

    @property
    def most(self) -> int:
        """The largest number that fits."""
        return (1 << (31 if self.is_signed else 32)) - 1

    def explains(self, launch: int, access: Place | None = None) -> bool:
        """Whether what goes wrong in a launch, or at an access there, goes wrong for it."""
        return self.ground == "launch" and launch in self.launches and (self.in_host or access in self.accesses)
