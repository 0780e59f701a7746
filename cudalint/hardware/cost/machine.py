"""What a GPU gets done per microsecond, as far as kernels reach it."""

from __future__ import annotations

from msgspec import Struct

from cudalint.hardware.targets import Target

_DRAM_SHARE = 0.875
"""Of the bandwidth in the data sheet that the best kernels reach: 4.2 of 4.8 TB/s on an H200."""
_L2_BYTES_PER_CLOCK = 24.0
"""From L2 for each SM: 6.3 TB/s over 132 SMs at 1.98 GHz in the best kernels on an H200."""
_ISSUES_PER_PARTITION = 1.0
_MICROSECONDS = 1e3
"""Cycles in a microsecond, for each GHz."""


class Machine(Struct, frozen=True):
    """One GPU: figures per microsecond of all its SMs together, if not said otherwise."""

    sm_count: int
    clock_ghz: float
    dram_bytes: float
    l2_bytes: float
    wavefronts: float
    """Passes through L1 and shared memory, which are one and the same memory; the constant cache has as many turns."""
    instructions: float
    """Warp-level instructions."""
    fp32: float
    """Operations, of which a multiply-add is two."""
    fp64: float
    fp16: float
    special: float
    tensor: float
    warps_per_sm: int
    sub_partitions: int


def machine_of(target: Target) -> Machine:
    cycles = target.sm_count * target.clock_ghz * _MICROSECONDS
    return Machine(
        sm_count=target.sm_count,
        clock_ghz=target.clock_ghz,
        dram_bytes=target.bandwidth_gb_s * 1e3 * _DRAM_SHARE,
        l2_bytes=cycles * _L2_BYTES_PER_CLOCK,
        wavefronts=cycles,
        instructions=cycles * target.sub_partitions * _ISSUES_PER_PARTITION,
        fp32=cycles * 2 * target.lanes["fp32"],
        fp64=cycles * 2 * target.lanes["fp64"],
        fp16=cycles * 2 * target.lanes["fp16"],
        special=cycles * target.lanes["special"],
        tensor=max(target.tensor_tflops.values(), default=0.0) * 1e6,
        warps_per_sm=target.max_warps_per_sm,
        sub_partitions=target.sub_partitions,
    )
