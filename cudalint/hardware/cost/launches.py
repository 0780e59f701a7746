"""What a launch costs, put together of its work and its time."""

from __future__ import annotations

from msgspec.structs import replace

from cudalint.facts import LaunchCost
from cudalint.facts.costs import Operations, Work
from cudalint.hardware.cost.model import Estimate
from cudalint.hardware.targets import Target

COUNTS = ("sectors", "passes", "wavefronts", "l2_bytes", "dram_bytes", "instructions", "turns")
"""What of a launch's work is as much for each block, and what findings have an excess of."""


def with_estimate(cost: LaunchCost, found: Estimate, target: Target, through: float) -> LaunchCost:
    """`through`: bytes that go to DRAM or come from it in the end."""
    assert cost.operations is not None
    intensity = cost.operations.floating / through if through else None
    roof = target.fp32_tflops * 1e3
    return replace(
        cost,
        arithmetic_intensity=intensity,
        requested_intensity=cost.operations.floating / cost.requested_bytes if cost.requested_bytes else None,
        ridge=target.ridge,
        limits_us=found.limits,
        bound=found.bound,
        time_us=found.time,
        attainable_gflops=None if intensity is None else min(roof, intensity * target.bandwidth_gb_s),
    )


def scaled(work: Work, scale: float) -> Work:
    """The work of a smaller grid of the same blocks."""
    operations = (getattr(work.operations, name) * scale for name in Operations.__struct_fields__)
    return replace(
        work,
        blocks=max(1.0, work.blocks * scale),
        operations=Operations(*operations),
        requests={space: count * scale for space, count in work.requests.items()},
        **{name: getattr(work, name) * scale for name in COUNTS},
    )
