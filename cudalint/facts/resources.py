"""What a block takes of a multiprocessor, and how many blocks fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct


class MostByEstimate(Struct, frozen=True):
    """What fits on an SM if a thread takes as few registers as the estimate of them leaves possible."""

    registers: int
    """Per thread, fewer than `Resources.registers_estimate` by what that may be off."""
    blocks_per_sm: int
    warps_per_sm: int
    occupancy: float
    limiters: tuple[str, ...]


class Occupancy(Struct, frozen=True):
    """How many blocks and warps fit on an SM under one launch."""

    launch: int
    blocks_per_sm: int | None
    warps_per_sm: int | None
    occupancy: float | None
    limiters: tuple[str, ...]
    limits: Mapping[str, int | None]
    """Blocks per multiprocessor that each resource leaves room for; None where its use is not known."""
    needs_opt_in: bool = False
    """Whether the launch needs cudaFuncAttributeMaxDynamicSharedMemorySize raised."""
    obstacles: tuple[str, ...] = ()
    """Why not even one block can be launched."""
    by_registers: tuple[tuple[int, int, float], ...] = ()
    """Where registers aren't known: registers per thread, and the blocks per SM and occupancy that they allow."""
    most: MostByEstimate | None = None
    """There as well, by the estimate of registers, which the other figures here leave out."""


REGISTER_CEILINGS = frozenset({"launch-bounds", "maxrregcount"})
"""Sources that hold the compiler to a number of registers, and don't say how many it takes."""


class SpillPlace(NamedTuple):
    """A line in whose code registers are stored to local memory, or loaded again."""

    path: str
    line: int
    stores: int
    """Instructions."""
    loads: int


class Resources(Struct, frozen=True):
    """What a block of the kernel takes."""

    static_shared_bytes: int | None
    registers: int | None = None
    """Per thread; a ceiling and no count where `registers_source` is one of REGISTER_CEILINGS."""
    registers_source: str | None = None
    max_threads: int | None = None
    min_blocks: int | None = None
    stack_bytes: int | None = None
    """Of local memory that each thread has for its variables and what is spilled, where the compiler says that."""
    spill_store_bytes: int | None = None
    """By the instructions that store registers to local memory; of a thread, each instruction once."""
    spill_load_bytes: int | None = None
    registers_estimate: int | None = None
    """Per thread, where no compiler has counted them: those that the values which are alive at the same time take. The
    compiler seldom takes fewer, and often more, as it begins loads early. No rule reads it."""
    spills: tuple[SpillPlace, ...] = ()
    """Where nvdisasm says that they are; none where nobody does."""
