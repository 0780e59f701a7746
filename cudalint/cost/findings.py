"""What findings cost: their excess taken out of the work of their kernel, and the time model asked again."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from cudalint.cost.machine import Machine, machine_of
from cudalint.cost.model import estimate
from cudalint.facts import Excess, FindingCost, KernelCost, LaunchCost, LaunchFacts, Operations, Waits, Work
from cudalint.hardware.targets import Target, find_target

_LONGER = 16.0
"""Times that a loop may well be longer than it is taken for, where nothing says how long it is."""
_MUCH_LESS = 0.5


def finding_cost(
    cost: LaunchCost, launch: LaunchFacts, excess: Excess, target: Target, lengths: frozenset[int] | None = None
) -> FindingCost:
    """What a finding takes of the launch that `cost` is about. `lengths`: those of the loops around it that are
    assumed, if that is known."""
    work = cost.work
    if work is None or cost.time_us is None:
        return not_known(cost, cost.reason or "")
    alone = FindingCost(None, None, cost.bound, status=cost.status, excess=excess)
    kernel = KernelCost(launch, target.name, float(cost.time_us), cost.bound, work)
    found = cost_of_all(kernel, [alone])
    others = frozenset(range(len(cost.lengths))) - lengths if lengths is not None else frozenset()
    elsewhere = [each for each in cost.repeated if each.lengths & others]
    if not elsewhere:
        return found
    longer = work
    for each in elsewhere:
        longer = _more(longer, each.work, _LONGER - 1.0)
    machine = machine_of(target)
    time = estimate(longer, machine).time
    least = max(0.0, 1.0 - estimate(_less(longer, excess, machine), machine).time / time)
    assumed = [cost.lengths[number] for number in sorted(frozenset().union(*(each.lengths for each in elsewhere)))]
    is_less = least < _MUCH_LESS * (found.share or 0.0)
    return replace(found, least=min(least, found.share or 0.0), if_short=tuple(assumed) if is_less else ())


def not_known(cost: LaunchCost, reason: str) -> FindingCost:
    return FindingCost(None, None, cost.bound, reason=reason)


def cost_of_all(kernel: KernelCost, costs: Sequence[FindingCost]) -> FindingCost:
    """What several findings take of one launch if all of their figures become ideal."""
    total = Excess()
    for each in costs:
        own = each.excess
        total = Excess(
            sectors=total.sectors + own.sectors,
            wavefronts=total.wavefronts + own.wavefronts,
            l2_bytes=total.l2_bytes + own.l2_bytes,
            dram_bytes=total.dram_bytes + own.dram_bytes,
            turns=total.turns + own.turns,
            doubles=total.doubles + own.doubles,
            special=total.special + own.special,
            instructions=total.instructions + own.instructions,
            barriers=total.barriers + own.barriers,
            repeated=max(total.repeated, own.repeated),
            resident_blocks=max(total.resident_blocks, own.resident_blocks),
            is_uneven=total.is_uneven or own.is_uneven,
        )
    machine = machine_of(find_target(kernel.target))
    without = min(kernel.time_us, estimate(_less(kernel.work, total, machine), machine).time)
    traffic = kernel.work.sectors + kernel.work.wavefronts
    share = 1.0 - without / kernel.time_us
    least = sum(each.share or 0.0 if each.least is None else each.least for each in costs)
    return FindingCost(
        share=share,
        speedup=kernel.time_us / without,
        limiter=kernel.bound,
        sectors=total.sectors,
        wavefronts=total.wavefronts,
        traffic_share=min(1.0, (total.sectors + total.wavefronts) / traffic) if traffic else None,
        status=costs[0].status,
        least=None if all(each.least is None for each in costs) else min(share, least),
        if_short=tuple(dict.fromkeys(text for each in costs for text in each.if_short)),
        excess=total,
        kernel=kernel,
        findings=len(costs),
    )


def _more(work: Work, part: Work, times: float) -> Work:
    """The work of a launch with a part of it done several times more."""

    def summed(whole: Struct, own: Struct) -> dict[str, float]:
        return {name: getattr(whole, name) + times * getattr(own, name) for name in whole.__struct_fields__}

    return replace(
        work,
        operations=Operations(**summed(work.operations, part.operations)),
        instructions=work.instructions + times * part.instructions,
        sectors=work.sectors + times * part.sectors,
        passes=work.passes + times * part.passes,
        wavefronts=work.wavefronts + times * part.wavefronts,
        l2_bytes=work.l2_bytes + times * part.l2_bytes,
        dram_bytes=work.dram_bytes + times * part.dram_bytes,
        waits=Waits(**summed(work.waits, part.waits)),
        turns=work.turns + times * part.turns,
    )


def _less(work: Work, excess: Excess, machine: Machine) -> Work:
    kept = 1.0 - min(1.0, excess.sectors / work.sectors) if work.sectors else 1.0
    waits = replace(work.waits, barriers=max(0.0, work.waits.barriers - excess.barriers))
    doubles = min(excess.doubles, work.operations.fp64)
    operations = replace(
        work.operations,
        fp64=work.operations.fp64 - doubles,
        fp32=work.operations.fp32 + doubles,
        special=max(0.0, work.operations.special - excess.special),
    )
    blocks = float(math.ceil(work.blocks / machine.sm_count) * machine.sm_count) if excess.is_uneven else work.blocks
    found = replace(
        work,
        blocks=blocks,
        operations=operations,
        resident_blocks=work.resident_blocks + excess.resident_blocks,
        sectors=work.sectors * kept,
        passes=work.passes * kept,
        wavefronts=max(0.0, work.wavefronts - excess.wavefronts),
        l2_bytes=max(0.0, work.l2_bytes - excess.l2_bytes),
        dram_bytes=max(0.0, work.dram_bytes - excess.dram_bytes),
        instructions=max(0.0, work.instructions - excess.instructions),
        waits=waits,
        turns=max(0.0, work.turns - excess.turns),
    )
    return _without(found, excess.repeated) if excess.repeated else found


def _without(work: Work, part: float) -> Work:
    """The work of fewer blocks that do the same each. What the others read they read again, and DRAM has it once."""
    kept, operations = 1.0 - part, work.operations
    return replace(
        work,
        blocks=max(1.0, work.blocks * kept),
        operations=Operations(**{name: getattr(operations, name) * kept for name in operations.__struct_fields__}),
        instructions=work.instructions * kept,
        requests={name: count * kept for name, count in work.requests.items()},
        sectors=work.sectors * kept,
        passes=work.passes * kept,
        wavefronts=work.wavefronts * kept,
        l2_bytes=work.l2_bytes * kept,
        turns=work.turns * kept,
    )
