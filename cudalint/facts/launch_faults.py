"""Launches that fail, or that leave data out, for some sizes that the host code lets come to them."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cudalint.facts.axes import Axis
from cudalint.facts.places import Place

Sizes = tuple[tuple[str, int], ...]
"""Names of sizes with the smallest numbers for which it is so; empty where the launch gives all of them."""


class LaunchFault(Struct, frozen=True):
    """An extent, or the dynamic shared memory, of a launch that is out of bounds for some sizes."""

    launch: int
    place: Place
    """The launch statement."""
    kind: Literal["nothing", "too-many", "shared"]
    """No block or no thread at all, where there is something to do; more blocks than an axis may have; more bytes."""
    amount: int
    """Blocks, threads or bytes for these sizes."""
    sizes: Sizes
    axis: Axis | None = None
    of_block: bool = False
    is_requirement: bool = False
    """Whether the sizes may well be none that anybody means: those of a kernel that is written for whole blocks, or
    more of something than there ever is."""
    made_at: tuple[Place, ...] = ()
    """Where what becomes 0 is divided."""


class Uncovered(Struct, frozen=True):
    """Elements that a kernel's condition on its index would let through, and that no block comes to."""

    launch: int
    place: Place
    """The launch statement."""
    axis: Axis
    kind: Literal["rounded-down", "exchanged", "limited"]
    """Blocks are rounded down, count another axis's elements, or are held below a number with no loop that goes on."""
    guard: Place
    """The condition."""
    index: str
    bound: str
    """What is compared with what, as the kernel spells it."""
    first: int
    """The first element that no block comes to."""
    end: int
    """The first that the condition does not let through."""
    blocks: int
    needed: int
    """Blocks that are launched, and that would be enough."""
    sizes: Sizes
