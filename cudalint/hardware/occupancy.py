"""How many blocks of a kernel fit on an SM, and what stops the next one.

Source of the formula: NVIDIA's occupancy calculator (`cuda_occupancy.h` of the CUDA toolkit, function
`cudaOccMaxActiveBlocksPerMultiprocessor`) with the shared-memory opt-in, which the figures here equal to the last
block; tests/hardware compares them with a table made by it.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from cudalint.hardware.targets import Target

Resource = Literal["warps", "blocks", "registers", "shared_memory"]


class Limits(Struct, frozen=True):
    """The blocks per SM that each resource alone would allow; None where it sets no limit or isn't known."""

    warps: int
    blocks: int
    registers: int | None
    shared_memory: int | None

    def by_resource(self) -> dict[Resource, int | None]:
        """Give all limits by resource."""
        return {
            "warps": self.warps,
            "blocks": self.blocks,
            "registers": self.registers,
            "shared_memory": self.shared_memory,
        }

    def known(self) -> dict[Resource, int]:
        """Give the limits that there are, by resource."""
        return {resource: limit for resource, limit in self.by_resource().items() if limit is not None}


class Occupancy(Struct, frozen=True):
    """What fits on one SM.

    `occupancy` is the share of the SM's warps that are resident, 0 to 1; `limiters` are all resources whose
    limit is the smallest; `needs_opt_in` says that the launch needs the kernel's attribute
    cudaFuncAttributeMaxDynamicSharedMemorySize raised; `obstacles` are the reasons why not even one block can
    be launched, empty if it can.
    """

    blocks_per_sm: int
    warps_per_sm: int
    occupancy: float
    limiters: tuple[Resource, ...]
    limits: Limits
    needs_opt_in: bool
    obstacles: tuple[str, ...]

    @property
    def launchable(self) -> bool:
        """Whether one block fits on an SM."""
        return not self.obstacles


class Setting(Struct, frozen=True):
    """What the program has set for the kernel."""

    carveout: int | None = None
    """The preferred share of shared memory in percent (cudaFuncAttributePreferredSharedMemoryCarveout); None is the
    driver's choice, which is never in a block's way."""
    opt_in: bool = True
    """Whether it may have as much shared memory as the target allows a kernel that asks for it, and not only what
    every kernel may have (cudaFuncAttributeMaxDynamicSharedMemorySize)."""


DEFAULT_SETTING = Setting()


def occupancy(
    target: Target,
    threads: int,
    registers: int | None,
    static_shared: int = 0,
    dynamic_shared: int | None = 0,
    setting: Setting = DEFAULT_SETTING,
) -> Occupancy:
    """Compute the occupancy of blocks of `threads` threads with `registers` each (None if not known).

    `static_shared` and `dynamic_shared` (None if not known) are the kernel's own bytes per block; what the system
    reserves comes on top.

    Raises ValueError for less than one thread, negative registers or bytes, or a carve-out that is no percentage.
    """
    if threads < 1:
        raise ValueError(f"a block has at least one thread, not {threads}")
    if min(registers or 0, static_shared, dynamic_shared or 0) < 0:
        raise ValueError("registers and shared memory can't be negative")
    if setting.carveout is not None and not 0 <= setting.carveout <= 100:
        raise ValueError(f"a carve-out is a percentage, not {setting.carveout}")
    shared = static_shared + (dynamic_shared or 0)
    warps = -(-threads // target.warp_size)
    most = target.shared_per_block_opt_in if setting.opt_in else target.shared_per_block
    limits = Limits(
        warps=target.max_warps_per_sm // warps if threads <= target.max_threads_per_block else 0,
        blocks=target.max_blocks_per_sm,
        registers=_blocks_by_registers(target, warps, registers),
        shared_memory=_blocks_by_shared_memory(target, shared, most, setting) if dynamic_shared is not None else None,
    )
    blocks = min(limits.known().values())
    return Occupancy(
        blocks_per_sm=blocks,
        warps_per_sm=blocks * warps,
        occupancy=blocks * warps / target.max_warps_per_sm,
        limiters=tuple(resource for resource, limit in limits.known().items() if limit == blocks),
        limits=limits,
        needs_opt_in=shared > target.shared_per_block,
        obstacles=_obstacles(target, limits, threads, registers or 0, shared, most),
    )


def _blocks_by_registers(target: Target, warps: int, registers: int | None) -> int | None:
    """Count the blocks of `warps` warps that the SM's registers hold."""
    if not registers:
        return None
    if registers > target.max_registers_per_thread:
        return 0
    if _registers_checked(target, warps, registers) > target.registers_per_block:
        return 0
    per_warp = _registers_per_warp(target, registers)
    warps_per_partition = target.registers_per_sm // target.sub_partitions // per_warp
    return warps_per_partition * target.sub_partitions // warps


def _registers_per_warp(target: Target, registers: int) -> int:
    return _round_up(registers * target.warp_size, target.register_allocation_unit)


def _registers_checked(target: Target, warps: int, registers: int) -> int:
    """Count a block's registers as the check at launch does: as if all sub-partitions got as many warps."""
    return _registers_per_warp(target, registers) * _round_up(warps, target.sub_partitions)


def _blocks_by_shared_memory(target: Target, shared: int, most: int, setting: Setting) -> int | None:
    """Count the blocks with `shared` bytes of their own, of at most `most`, that the SM's shared memory holds."""
    allocated = _round_up(shared + target.shared_reserved_per_block, target.shared_allocation_unit)
    if allocated == 0:
        return None
    if allocated > most + target.shared_reserved_per_block:
        return 0
    return _shared_capacity(target, allocated, setting.carveout) // allocated


def _shared_capacity(target: Target, allocated: int, carveout: int | None) -> int:
    """Find the size that the SM's shared memory is given: the next one above the preference that holds a block."""
    if carveout is None:
        return target.shared_per_sm
    preferred = max(target.shared_per_sm * carveout // 100, allocated)
    return min(size for size in target.shared_capacities if size >= preferred)


def _obstacles(
    target: Target, limits: Limits, threads: int, registers: int, shared: int, most: int
) -> tuple[str, ...]:
    """Say what was asked and what there is of each resource that doesn't suffice for a single block."""
    obstacles = []
    if limits.warps == 0:
        obstacles.append(f"{threads} threads per block, at most {target.max_threads_per_block}")
    if registers > target.max_registers_per_thread:
        obstacles.append(f"{registers} registers per thread, at most {target.max_registers_per_thread}")
    elif limits.registers == 0:
        checked = _registers_checked(target, -(-threads // target.warp_size), registers)
        obstacles.append(f"{checked} registers allocated per block, at most {target.registers_per_block}")
    if limits.shared_memory == 0:
        obstacles.append(f"{shared} bytes of shared memory per block, at most {most}")
    return tuple(obstacles)


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
