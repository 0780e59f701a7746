"""What a finding costs: its excess taken out of the work of its kernel, and the time model asked again."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from cudalint.cost.machine import machine_of
from cudalint.cost.model import estimate
from cudalint.facts.costs import FindingCost, LaunchCost, Work
from cudalint.hardware.targets import Target


class Excess(Struct, frozen=True):
    """What goes away, in one launch, if the figure of a finding becomes ideal."""

    sectors: float = 0.0
    """Beyond the ideal, of global memory."""
    wavefronts: float = 0.0
    """Beyond the ideal, of shared memory."""
    dram_bytes: float = 0.0
    instructions: float = 0.0
    """Warp-level instructions, such as those that both sides of a divergent branch take."""


def finding_cost(cost: LaunchCost, excess: Excess, target: Target) -> FindingCost:
    """What a finding takes of the launch that `cost` is about."""
    work = cost.work
    if work is None or cost.time_us is None:
        return FindingCost(None, None, cost.bound, excess.sectors, excess.wavefronts)
    without = estimate(_less(work, excess), machine_of(target)).time
    traffic = work.sectors + work.wavefronts
    return FindingCost(
        share=max(0.0, 1.0 - without / cost.time_us),
        speedup=max(1.0, cost.time_us / without),
        limiter=cost.bound,
        sectors=excess.sectors,
        wavefronts=excess.wavefronts,
        traffic_share=min(1.0, (excess.sectors + excess.wavefronts) / traffic) if traffic else None,
        status=cost.status,
    )


def _less(work: Work, excess: Excess) -> Work:
    kept = 1.0 - min(1.0, excess.sectors / work.sectors) if work.sectors else 1.0
    return replace(
        work,
        sectors=work.sectors * kept,
        lines=work.lines * kept,
        wavefronts=max(0.0, work.wavefronts - excess.wavefronts),
        l2_bytes=work.l2_bytes * kept,
        dram_bytes=max(0.0, work.dram_bytes - excess.dram_bytes),
        instructions=max(0.0, work.instructions - excess.instructions),
    )
