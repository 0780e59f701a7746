"""What would change the occupancy: other block sizes, fewer registers, less shared memory."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

from cudalint.hardware.occupancy import DEFAULT_SETTING, Occupancy, Setting, occupancy
from cudalint.hardware.targets import Target

BLOCK_SIZES = (32, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
REGISTER_COUNTS = (16, 24, 32, 40, 48, 64, 80, 96, 128, 168, 255)


class Alternative(Struct, frozen=True):
    """A launch with one thing changed (`value` is the new figure), and the occupancy it would have."""

    value: int
    occupancy: Occupancy


class Cliff(Struct, frozen=True):
    """The largest figure of a resource, below the present one, with which more blocks fit on an SM.

    `value` is registers per thread, or bytes of shared memory per block (static and dynamic together).
    """

    resource: Literal["registers", "shared_memory"]
    value: int
    occupancy: Occupancy


def by_block_size(
    target: Target,
    registers: int | None,
    static_shared: int = 0,
    dynamic_shared: int = 0,
    sizes: Iterable[int] = BLOCK_SIZES,
    setting: Setting = DEFAULT_SETTING,
) -> tuple[Alternative, ...]:
    """Tabulate the occupancy over block sizes, with registers per thread and bytes per block unchanged."""
    return tuple(
        Alternative(threads, occupancy(target, threads, registers, static_shared, dynamic_shared, setting))
        for threads in sizes
    )


def by_registers(
    target: Target,
    threads: int,
    static_shared: int = 0,
    dynamic_shared: int | None = 0,
    counts: Iterable[int] = REGISTER_COUNTS,
    setting: Setting = DEFAULT_SETTING,
) -> tuple[Alternative, ...]:
    """Tabulate the occupancy over registers per thread, for kernels whose count isn't known."""
    return tuple(
        Alternative(registers, occupancy(target, threads, registers, static_shared, dynamic_shared, setting))
        for registers in counts
    )


def cliffs(
    target: Target,
    threads: int,
    registers: int | None,
    static_shared: int = 0,
    dynamic_shared: int = 0,
    setting: Setting = DEFAULT_SETTING,
) -> tuple[Cliff, ...]:
    """Find the nearest register count, and the nearest shared size, that alone lets more blocks on an SM.

    A resource that can't do it alone, because another one binds as well, has none. Raises ValueError as
    `occupancy` does.
    """
    shared = static_shared + dynamic_shared
    now = occupancy(target, threads, registers, static_shared, dynamic_shared, setting).blocks_per_sm
    found = (
        _fewer_registers(target, threads, registers, shared, now, setting),
        _less_shared(target, threads, registers, shared, now, setting),
    )
    return tuple(cliff for cliff in found if cliff)


def _fewer_registers(
    target: Target, threads: int, registers: int | None, shared: int, now: int, setting: Setting
) -> Cliff | None:
    # Registers are allocated in steps, and only a whole step can make a difference.
    step = target.register_allocation_unit // target.warp_size
    for count in range(((registers or 1) - 1) // step * step, 0, -step):
        result = occupancy(target, threads, count, dynamic_shared=shared, setting=setting)
        if result.blocks_per_sm > now:
            return Cliff("registers", count, result)
    return None


def _less_shared(
    target: Target, threads: int, registers: int | None, shared: int, now: int, setting: Setting
) -> Cliff | None:
    """Look at every step of the allocation below the present size: with a carve-out, less may leave less room."""
    unit = target.shared_allocation_unit
    allocated = min(shared + target.shared_reserved_per_block, target.shared_per_sm + unit)
    for size in range((allocated - 1) // unit * unit, target.shared_reserved_per_block - 1, -unit):
        most = size - target.shared_reserved_per_block
        result = occupancy(target, threads, registers, dynamic_shared=most, setting=setting)
        if result.blocks_per_sm > now:
            return Cliff("shared_memory", most, result)
    return None
