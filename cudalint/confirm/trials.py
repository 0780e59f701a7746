"""One kernel under one launch, ready to be run: what travels to the process that talks to the GPU, and what comes
back. Everything here is plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from cudalint.confirm.sources import Build

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Buffer(Struct, frozen=True):
    """Memory behind a pointer: as much as the evaluated addresses reach."""

    name: str
    low: int
    """The first byte, from where the pointer's allocation begins; negative where a kernel reads before it."""
    high: int
    element_kind: str
    element_bytes: int

    @property
    def bytes(self) -> int:
        return self.high - self.low


class Pointed(Struct, frozen=True):
    """A pointer in a parameter."""

    offset: int
    """Bytes from the start of the parameter."""
    buffer: int
    """Which buffer of the trial it points into."""
    base: int
    """Bytes from the start of the allocation."""


class Argument(Struct, frozen=True):
    """A parameter as its bytes; the addresses of buffers are written into it when they are known."""

    image: bytes
    pointers: tuple[Pointed, ...] = ()


class Trial(Struct, frozen=True):
    """A kernel, its launch and its data."""

    build: Build
    folder: str
    """Where its files are put; the compiler's line information names them there."""
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    dynamic_shared: int
    arguments: tuple[Argument, ...]
    buffers: tuple[Buffer, ...]
    zero_integers: bool
    """Whether integers are zero instead of random: they may be indices."""
    opted_in: int | None = None
    """To how much the program raises the limit of dynamic shared memory; None where it may do as it needs."""
    seed: int = 0
    timed: bool = True
    is_compared: bool = False
    """Whether the outcome has checksums of what it writes."""
    sites: int = 0
    """For how many accesses and branches an instrumented build has counters; 0 for a plain one."""


class ModuleFigures(Struct, frozen=True):
    """What the compiled module says about a kernel."""

    registers: int
    static_shared: int
    local: int
    blocks_per_sm: int | None
    """By the driver's own calculator."""
    backend: str
    """`nvrtc` or `nvcc`."""


class BranchCount(Struct, frozen=True):
    """How often lanes came to a branch together, and how often they went different ways."""

    visits: int
    splits: int


class Log(Struct, frozen=True, eq=False):
    """The warp-level requests that an instrumented build recorded, and its counts of branches."""

    sites: NDArray[np.int64]
    """[n] which access made it."""
    widths: NDArray[np.int64]
    """[n] bytes of each lane."""
    masks: NDArray[np.bool_]
    """[n, 32] active lanes."""
    shared: NDArray[np.bool_]
    """[n] whether the addresses lie in shared memory."""
    addresses: NDArray[np.int64]
    """[n, 32], from the start of shared memory or of the address space."""
    branches: Mapping[int, BranchCount] = field(default_factory=dict)
    """By the number of the branch's site."""


class Outcome(Struct, frozen=True, eq=False):
    """What became of a trial."""

    module: ModuleFigures | None = None
    compile_error: str | None = None
    refused: str | None = None
    """Why it was not run."""
    run_error: str | None = None
    overrun: tuple[str, ...] = ()
    """Buffers around which the kernel has written."""
    milliseconds: float | None = None
    digests: Mapping[str, str] = field(default_factory=dict)
    """A checksum of each buffer after the run, for trials that are compared."""
    log: Log | None = None
    retire: bool = False
    """Whether the process that ran it is of no more use: a fault ends its context."""


class Device(Struct, frozen=True):
    """What the GPU and the software around it are."""

    name: str
    architecture: str
    """Such as `sm_90`."""
    driver: str
    runtime: str
    compiler: str
    cupy: str
    nvcc: str | None
    """The path of the toolkit's compiler, where there is one."""
