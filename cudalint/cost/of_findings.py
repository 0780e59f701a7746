"""The cost of each finding of waste: what its figures exceed the ideal by, in the launch where that costs most."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from cudalint.cost.by_line import per_request
from cudalint.cost.findings import finding_cost, not_known
from cudalint.diagnostics import Diagnostic
from cudalint.facts import Access, AccessResult, Excess, FindingCost, KernelFacts, LaunchCost, LaunchFacts, Work
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.hardware.targets import Target

_STREAMED = 0.5
"""Of what is asked of L1, the part that comes from DRAM where little is asked for again."""
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
        return not_known(cost, cost.reason or _HOW_OFTEN)
    if _is_of_requests(diagnostic):
        excess, reason = _of_requests(diagnostic, kernel, cost, cost.work), _HOW_OFTEN
    else:
        excess, reason = _of_figures(diagnostic, kernel, cost, cost.work, target), _NOT_COUNTED
    if excess is None:
        return not_known(cost, reason)
    return finding_cost(cost, kernel.launches[cost.launch], excess, target, _lengths(diagnostic, kernel, cost))


def _is_of_requests(diagnostic: Diagnostic) -> bool:
    return "ideal_sectors" in diagnostic.figures or "ideal_wavefronts" in diagnostic.figures


def _lengths(diagnostic: Diagnostic, kernel: KernelFacts, cost: LaunchCost) -> frozenset[int] | None:
    """The assumed lengths of the loops around a finding, by their numbers; None if its place tells nothing of it."""
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
    # Of a launch of unknown size the work of a smaller grid is weighed.
    scale = work.blocks / math.prod(kernel.launches[cost.launch].grid)
    if "wasted_share" in figures:
        return Excess(
            instructions=min(1.0, figures["wasted_share"]) * work.instructions,
            doubles=scale * figures.get("double_operations", 0.0),
            special=scale * figures.get("special_operations", 0.0),
        )
    if "words" in figures:
        return Excess(turns=scale * _needless_turns(diagnostic, kernel, cost.launch))
    if "repeated_share" in figures:
        return Excess(repeated=figures["repeated_share"])
    if "idle_lanes" in figures and "idle_fraction" in figures:
        return Excess(instructions=figures["idle_fraction"] * work.instructions)
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


def _of_requests(diagnostic: Diagnostic, kernel: KernelFacts, cost: LaunchCost, work: Work) -> Excess | None:
    own = _accesses(diagnostic, kernel)
    sectors, wavefronts = _share(own, kernel, cost.launch, shared=False), _share(own, kernel, cost.launch, shared=True)
    if sectors is None and wavefronts is None:
        return None
    excess = Excess(
        float((sectors or 0.0) * work.sectors),
        float((wavefronts or 0.0) * work.wavefronts),
        l2_bytes=_needless(own, kernel, cost) if sectors else 0.0,
    )
    arrays = {access.array for access in own}
    is_alone = all(access.array not in arrays or access in own for access in kernel.accesses)
    if is_alone and work.dram_bytes >= _STREAMED * work.sectors * SECTOR_BYTES:
        # Nobody else uses the rest of what is fetched.
        excess = replace(excess, dram_bytes=min(excess.l2_bytes, float((sectors or 0.0) * work.dram_bytes)))
    return excess


def _needless(own: list[Access], kernel: KernelFacts, cost: LaunchCost) -> float:
    """What some accesses bring to L2 beyond what the lanes ask for."""
    found = 0.0
    for array in dict.fromkeys(access.array for access in own if access.array in cost.needless):
        whole = sum(_beyond([access for access in kernel.accesses if access.array == array], cost.launch, shared=False))
        mine = sum(_beyond([access for access in own if access.array == array], cost.launch, shared=False))
        found += cost.needless[array] * mine / whole if whole else 0.0
    return found


def _share(own: list[Access], kernel: KernelFacts, launch: int, shared: bool) -> float | None:
    """What some accesses take beyond the ideal, as a part of what all of a kernel take; None if that is not known."""
    total = sum(
        requests * (per_request(access, result) or 0.0)
        for access, result, requests in _results(kernel.accesses, launch, shared)
    )
    found = _beyond(own, launch, shared)
    return min(1.0, sum(found) / total) if total and found else None


def _beyond(accesses: Iterable[Access], launch: int, shared: bool) -> list[float]:
    """What accesses take beyond the ideal, as far as that is known."""
    return [
        requests * max(0.0, actual - ideal)
        for _, result, requests in _results(accesses, launch, shared)
        for actual, ideal in [_figures(result, shared)]
        if actual is not None and ideal is not None
    ]


def _results(
    accesses: Iterable[Access], launch: int, shared: bool
) -> Iterator[tuple[Access, AccessResult, float]]:
    """What is known of accesses under a launch, with the number of their requests."""
    for access in accesses:
        for result in access.results:
            if (access.space == "shared") is shared and result.launch == launch and result.requests:
                yield access, result, result.requests


def _figures(result: AccessResult, shared: bool) -> tuple[float | None, float | None]:
    """What one request takes, and would ideally take."""
    if shared:
        return result.wavefronts_per_request, result.ideal_wavefronts
    return result.sectors_per_request, result.ideal_sectors
