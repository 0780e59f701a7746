"""The cost of each finding of waste: what its figures exceed the ideal by, in the launch where that costs most."""

from __future__ import annotations

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic
from cudalint.facts import WAITING, Access, Excess, FindingCost, KernelFacts, LaunchCost, LaunchFacts, Work
from cudalint.hardware.cost.findings import finding_cost, not_known
from cudalint.hardware.cost.requests import all_are_counted, excess, shared_in, total
from cudalint.hardware.targets import Target

_HOW_OFTEN = "how often it is executed, or what it takes then, is not known"
_NOT_EVALUATED = "the launch was not evaluated"
_NOT_COUNTED = "the time model has no figure for it"


def with_cost(diagnostic: Diagnostic, kernel: KernelFacts, target: Target) -> Diagnostic:
    """A finding of waste with its cost, or with the reason why that is not known."""
    costs = (cost for cost in kernel.costs or () if _is_under(kernel.launches[cost.launch], diagnostic))
    found = [_cost_in(diagnostic, kernel, cost, target) for cost in costs]
    known = [each for each in found if each.share is not None] or found
    unknown = FindingCost(None, None, "unknown", reason=_NOT_EVALUATED)
    return replace(diagnostic, cost=max(known, key=lambda each: each.weight, default=unknown))


def _is_under(launch: LaunchFacts, diagnostic: Diagnostic) -> bool:
    """Whether a finding is about a launch, or about another place with the same launch."""
    if not diagnostic.launches or launch in diagnostic.launches:
        return True
    return any(own.site is not None and own.site in launch.twins for own in diagnostic.launches)


def _cost_in(diagnostic: Diagnostic, kernel: KernelFacts, cost: LaunchCost, target: Target) -> FindingCost:
    if cost.work is None:
        return not_known(cost, cost.reason or _HOW_OFTEN, _share_of_traffic(diagnostic, kernel, cost))
    if _is_of_requests(diagnostic):
        found, reason = _of_requests(_accesses(diagnostic, kernel), kernel, cost), _HOW_OFTEN
    else:
        found, reason = _of_figures(diagnostic, kernel, cost, cost.work, target), _NOT_COUNTED
    if found is None:
        return not_known(cost, reason)
    launch = kernel.launches[cost.launch]
    priced = finding_cost(cost, launch, found, target, _lengths(diagnostic, kernel, cost))
    if _was_seen_to_wait(launch, cost):
        priced = replace(priced, limiter="latency")
    return replace(priced, place=diagnostic.place)


def _was_seen_to_wait(launch: LaunchFacts, cost: LaunchCost) -> bool:
    """Whether a launch took so long when it was recorded that no part of the machine was busy for half of it."""
    if launch.recorded is None or launch.recorded.time_us is None:
        return False
    busiest = max((time for part, time in cost.limits_us.items() if part not in WAITING), default=0.0)
    return launch.recorded.time_us > 2 * busiest


def _share_of_traffic(diagnostic: Diagnostic, kernel: KernelFacts, cost: LaunchCost) -> float | None:
    """What a finding takes of the traffic in a launch whose time is not known: whatever the numbers of requests have in
    common as a factor counts for nothing."""
    if not _is_of_requests(diagnostic) or not all_are_counted(kernel.accesses, cost):
        return None
    own, whole = excess(_accesses(diagnostic, kernel), cost), total(kernel.accesses, cost)
    return own.traffic / whole.traffic if own is not None and whole.traffic else None


def _is_of_requests(diagnostic: Diagnostic) -> bool:
    return "ideal_sectors" in diagnostic.figures or "ideal_wavefronts" in diagnostic.figures


def _lengths(diagnostic: Diagnostic, kernel: KernelFacts, cost: LaunchCost) -> frozenset[int] | None:
    """The assumed lengths of the loops around a finding, by their numbers; None if its place says nothing of it."""
    places = {diagnostic.place}
    if _is_of_requests(diagnostic):
        places = {access.place for access in _accesses(diagnostic, kernel)} or places
    found = [cost.within[place] for place in places if place in cost.within]
    return frozenset().union(*found) if found else None


def _accesses(diagnostic: Diagnostic, kernel: KernelFacts) -> list[Access]:
    return [access for access in kernel.accesses if diagnostic.place in (access.place, access.made_at)]


def _of_figures(
    diagnostic: Diagnostic, kernel: KernelFacts, cost: LaunchCost, work: Work, target: Target
) -> Excess | None:
    """Of lanes that idle, of SMs that do, of places for blocks, of a barrier, and of turns of the constant cache."""
    figures = diagnostic.figures
    if "spare_share" in figures:
        asked = total(shared_in(diagnostic.place, kernel.accesses), cost)
        return Excess(wavefronts=figures["spare_share"] * asked.wavefronts)
    if "wasted_share" in figures:
        return Excess(
            instructions=min(1.0, figures["wasted_share"]) * work.instructions,
            doubles=cost.scale * figures.get("double_operations", 0.0),
            special=cost.scale * figures.get("special_operations", 0.0),
        )
    if "words" in figures:
        return Excess(turns=cost.scale * _needless_turns(diagnostic, kernel, cost.launch))
    if "repeated_share" in figures:
        return Excess(repeated=figures["repeated_share"])
    if "idle_lanes" in figures and "idle_fraction" in figures:
        return Excess(instructions=figures["idle_fraction"] * work.instructions, slots=figures["idle_fraction"])
    if "waves" in figures:
        return Excess(is_uneven=True)
    if "occupancy" in figures:
        return Excess(resident_blocks=max(0, target.max_warps_per_sm // work.warps_per_block - work.resident_blocks))
    if diagnostic.place in cost.stops:
        return Excess(barriers=cost.stops[diagnostic.place])
    return None


def _needless_turns(diagnostic: Diagnostic, kernel: KernelFacts, launch: int) -> float:
    """What loads of constant memory at the place of a finding take beyond one turn for each request."""
    results = (r for load in kernel.constants if load.place == diagnostic.place for r in load.results)
    return float(sum(r.requests * (r.addresses - 1.0) for r in results if r.launch == launch))


def _of_requests(own: list[Access], kernel: KernelFacts, cost: LaunchCost) -> Excess | None:
    found = excess(own, cost)
    if found is None:
        return None
    l2 = dram = 0.0
    for array in dict.fromkeys(access.array for access in own if access.array in cost.needless):
        whole = excess((access for access in kernel.accesses if access.array == array), cost)
        mine = excess((access for access in own if access.array == array), cost)
        if whole is not None and mine is not None and whole.sectors:
            part = mine.sectors / whole.sectors
            l2, dram = l2 + part * cost.needless[array].l2, dram + part * cost.needless[array].dram
    return Excess(found.sectors, found.passes, found.wavefronts, l2_bytes=l2, dram_bytes=dram)
