"""What is kept of the launches of a program that was recorded, as it stands in the file.

A pointer is an allocation, counted from 0 within the launch, the offset in it and its size: `p0+16384/49152`, or `p?`
where nothing is known of what it leads to. Whatever is no number of up to eight bytes is `x` and its bytes in
hexadecimal, where a pointer among them stands in braces for its eight: `x{0+256/4096}0a000000`. No address is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, NamedTuple

from msgspec import Meta, Struct, field

VERSION: Final = 1
POINTER_BYTES: Final = 8
MOST_COUNTED: Final = 1 << 62
MOST_LETTERS: Final = 20_000
Extent = Annotated[int, Meta(ge=1, le=(1 << 31) - 1)]
Extents = tuple[Extent, Extent, Extent]
Count = Annotated[int, Meta(ge=1, le=MOST_COUNTED)]
Text = Annotated[str, Meta(max_length=MOST_LETTERS)]
Argument = Annotated[int, Meta(ge=0)] | Text
"""A number of up to eight bytes, as if it had no sign, or a text as above."""


class RecordedLaunch(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Launches that were made in the same way."""

    count: Count
    """How often."""
    grid: Extents
    block: Extents
    shared: Annotated[int, Meta(ge=0, le=1 << 30)] = 0
    """Bytes of dynamic shared memory."""
    arguments: Annotated[tuple[Argument, ...], Meta(max_length=4096)] | None = None
    """None where they are not known."""
    cluster: Extents | None = None
    cooperative: bool = False
    stream: Annotated[int, Meta(ge=0, le=1 << 31)] = 0
    """0 for the default stream; others are counted from 1 in the order in which they come."""
    order: Annotated[int, Meta(ge=0)] | None = None
    """How many other launches of the program came before the first of these."""
    time_us: Annotated[float, Meta(ge=0, le=1e15)] | None = None
    """Of one of them, in the mean, in microseconds."""
    has_static: bool = False
    """`shared` has what the kernel itself declares in it, too, since a profiler has told no more than the sum."""

    def dynamic(self, static: int) -> int:
        """Bytes of dynamic shared memory, of a kernel that declares so many itself."""
        return max(0, self.shared - static) if self.has_static else self.shared

    @property
    def threads(self) -> int:
        x, y, z = self.block
        return x * y * z

    @property
    def blocks(self) -> int:
        x, y, z = self.grid
        return x * y * z

    @property
    def weight(self) -> float:
        """What all of them take: their time, or as far as nobody has measured it their threads."""
        return self.count * (self.time_us if self.time_us is not None else float(self.threads * self.blocks))


class RecordedKernel(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A kernel, and how it was launched."""

    symbol: Text
    """Its name in compiled code; `h:` and a hash of it where names are hidden, its plain name where only that is
    known."""
    launches: Annotated[tuple[RecordedLaunch, ...], Meta(max_length=100_000)]
    name: Text = ""
    """Its name as the source has it, for whoever reads the file."""
    parameters: Annotated[tuple[Annotated[int, Meta(ge=0, le=1 << 16)], ...], Meta(max_length=4096)] | None = None
    """Bytes of each of its parameters; None where they are not known."""


class Recording(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """All that is kept of one program, or of several."""

    version: int
    kernels: Annotated[tuple[RecordedKernel, ...], Meta(max_length=100_000)] = field(default=())
    device: Text = ""
    """The GPU, where times were measured."""
    left_out: Annotated[int, Meta(ge=0)] = 0
    """Different launches beyond the limit that are not kept, and rows of a profiler that no launch can have."""

    @property
    def launches(self) -> int:
        return sum(len(kernel.launches) for kernel in self.kernels)


class RecordedPointer(NamedTuple):
    """Where a pointer leads."""

    allocation: int | None
    """Counted within the launch; None where nothing is known of it."""
    offset: int = 0
    """Bytes from the start of the allocation."""
    extent: int = 0
    """Bytes of the allocation."""

    def __str__(self) -> str:
        return "?" if self.allocation is None else f"{self.allocation}+{self.offset}/{self.extent}"


class ArgumentBytes(NamedTuple):
    """An argument as it lies in the memory of a launch."""

    data: bytes
    """With zeros in the place of pointers."""
    pointers: Mapping[int, RecordedPointer]
    """By the byte at which each of them begins."""
