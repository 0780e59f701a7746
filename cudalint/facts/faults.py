"""Accesses that go wrong under a launch: out of bounds, misaligned, or in rows of another length."""

from __future__ import annotations

from typing import Literal, NamedTuple

from msgspec import Struct

from cudalint.facts.accesses import Operation, Space
from cudalint.facts.places import Frame, Place


class OutOfBounds(Struct, frozen=True):
    """An access that leaves an array of known size under one launch."""

    place: Place
    inlined_from: tuple[Frame, ...]
    space: Space
    operation: Operation
    array: str
    launch: int
    kind: Literal["always", "tail", "data"]
    """`tail`: only in the last block of a grid that is rounded up; `data`: for data that the code lets through."""
    thread: tuple[int, int, int]
    """The first active thread whose address leaves the array."""
    block: tuple[int, int, int]
    offset: int
    """Where its access starts, in bytes from the start of the array; for an array in registers, in elements."""
    length: int
    """Of its access, in the same unit."""
    extent: int
    """The size of the array, in the same unit."""
    element_bytes: int
    elements: str | None
    """The size in elements, in the names of the host code."""
    values: tuple[tuple[str, int], ...]
    """Sizes that nothing determines, and the values for which the thread leaves the array."""
    condition: str | None
    """For a tail: under which all blocks stay inside."""
    is_allocated: bool
    """The size is that of an allocation or declaration; otherwise it is what a grid without a tail touches."""
    declaration: Place | None
    dimensions: int
    """Of the declared array."""
    in_parameters: str | None = None
    """The size in elements, in the kernel's parameters; None where these don't give it."""
    defaults: tuple[tuple[str, int], ...] = ()
    """The kernel's parameters that the program gives a number unless an option says otherwise, with that number. Where
    it is another one in `values`, this one leads no thread outside."""


class PitchMismatch(Struct, frozen=True):
    """An access of an array with another pitch than the length of its rows."""

    place: Place
    inlined_from: tuple[Frame, ...]
    operation: Operation
    array: str
    launch: int
    pitch: str
    """The argument that the row is multiplied with."""
    length: str
    """The argument up to which the column goes."""
    other: Place | None
    """Another access of the array, with rows of that length."""


class Kept(NamedTuple):
    """In how many recorded launches something holds, of how many."""

    held: int
    of: int


class Misalignment(Struct, frozen=True):
    """An access whose address is no multiple of its width under one launch, for certain or for some arguments."""

    place: Place
    inlined_from: tuple[Frame, ...]
    space: Space
    operation: Operation
    array: str
    bytes: int
    """What the address has to be a multiple of."""
    launch: int
    condition: str | None
    """What the arguments have to fulfil for it to be aligned; None where it is misaligned whatever they are."""
    thread: tuple[int, int, int]
    """The first thread that is misaligned, if the condition does not hold."""
    block: tuple[int, int, int]
    offset: int | None
    """Where that thread's access starts, in bytes from the start of the array; None where data decides that too."""
    base: int
    """Where a shared array itself starts in the block's shared memory."""
    values: tuple[tuple[str, int], ...]
    """Arguments for which the thread is misaligned."""
    assumptions: tuple[str, ...]
    kept: Kept | None = None
    """Of a condition that was held against recorded launches: how many keep it."""
    in_blocks: tuple[int, int, int] | None = None
    """Of what is misaligned in blocks that the launch has for smaller sizes only, of which `values` are some."""
