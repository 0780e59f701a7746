"""What findings cost, by one rule for all of them: 1 - (time without the excess) / (time), and the same for traffic.

Both times are the model's, for one launch with the same counts, sizes and lengths of loops. What a load waits for stays
as it is: it is not the traffic of others that L1 has a sector or hasn't.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec.structs import replace

from cudalint.facts import Excess, FindingCost, KernelCost, LaunchCost, LaunchFacts, Work
from cudalint.facts.costs import sum_of
from cudalint.hardware.cost.launches import COUNTS, scaled
from cudalint.hardware.cost.machine import Machine, machine_of
from cudalint.hardware.cost.model import estimate, traffic
from cudalint.hardware.targets import Target, find_target


def finding_cost(
    cost: LaunchCost, launch: LaunchFacts, excess: Excess, target: Target, lengths: frozenset[int] | None = None
) -> FindingCost:
    """What a finding takes of the launch that `cost` is about. `lengths`: those of the loops around it that are
    assumed, if that is known."""
    work = cost.work
    if work is None or cost.time_us is None:
        return not_known(cost, cost.reason or "")
    others = frozenset(range(len(cost.lengths))) - lengths if lengths is not None else frozenset()
    alone = FindingCost(
        None, None, cost.bound, status=cost.status, excess=excess,
        if_short=tuple(cost.lengths[number] for number in sorted(others)),
    )  # fmt: skip
    kernel = KernelCost(
        launch, target.name, float(cost.time_us), cost.bound, work, cost.sizes, cost.lengths, cost.is_nominal,
        cost.rests_on, cost.reason if cost.status == "range" else None,
    )  # fmt: skip
    return cost_of_all(kernel, [alone])


def not_known(cost: LaunchCost, reason: str, traffic_share: float | None = None) -> FindingCost:
    return FindingCost(None, None, cost.bound, traffic_share=traffic_share, reason=reason)


def cost_of_all(kernel: KernelCost, costs: Sequence[FindingCost]) -> FindingCost:
    """What several findings take of one launch if all of their figures become ideal."""
    # A load and a store of one expression are two findings at one place, and so are the arrays that a function gets.
    own = dict.fromkeys((each.place or number, each.excess) for number, each in enumerate(costs))
    total = sum_of([excess for _, excess in own])
    machine = machine_of(find_target(kernel.target))
    left = _less(kernel.work, total, machine)
    without = min(kernel.time_us, estimate(left, machine).time)
    return FindingCost(
        share=1.0 - without / kernel.time_us,
        speedup=kernel.time_us / without,
        limiter=kernel.bound,
        sectors=total.sectors,
        wavefronts=total.wavefronts,
        traffic_share=_traffic_share(kernel.work, left),
        status=costs[0].status,
        if_short=tuple(dict.fromkeys(text for each in costs for text in each.if_short)),
        excess=total,
        kernel=kernel,
        findings=len(costs),
    )


def _traffic_share(work: Work, left: Work) -> float | None:
    """What of the traffic goes away; None where that is nothing."""
    before, after = (traffic(each.sectors, each.wavefronts) for each in (work, left))
    return 1.0 - after / before if after < before else None


def _less(work: Work, excess: Excess, machine: Machine) -> Work:
    # Fewer warps, as lanes that idle cost, do not execute less each.
    less = 0.0 if excess.slots or not work.instructions else min(1.0, excess.instructions / work.instructions)
    waits = replace(
        work.waits,
        barriers=max(0.0, work.waits.barriers - excess.barriers),
        instructions=work.waits.instructions * (1.0 - less),
    )
    doubles = min(excess.doubles, work.operations.fp64)
    operations = replace(
        work.operations,
        fp64=work.operations.fp64 - doubles,
        fp32=work.operations.fp32 + doubles,
        special=max(0.0, work.operations.special - excess.special),
    )
    blocks = float(math.ceil(work.blocks / machine.sm_count) * machine.sm_count) if excess.is_uneven else work.blocks
    counts = {name: max(0.0, getattr(work, name) - getattr(excess, name)) for name in COUNTS}
    found = replace(
        work,
        blocks=blocks,
        operations=operations,
        resident_blocks=work.resident_blocks + excess.resident_blocks,
        waits=waits,
        slots=max(1.0, work.slots * (1.0 - excess.slots)),
        **counts,
    )
    return _without(found, excess.repeated) if excess.repeated else found


def _without(work: Work, part: float) -> Work:
    """The work of fewer blocks that do the same each. What the others read they read again, and DRAM has it once."""
    kept = 1.0 - part
    past_l2 = min(1.0, work.past_l2 / kept) if kept else 1.0
    return replace(scaled(work, kept), dram_bytes=work.dram_bytes, past_l2=past_l2)
