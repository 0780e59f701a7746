"""The cost of each finding of waste: what its figures exceed the ideal by, in the launch where that costs most."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from cudalint.cost.findings import Excess, finding_cost
from cudalint.diagnostics import Diagnostic
from cudalint.facts import Access, AccessResult, FindingCost, KernelFacts, LaunchCost
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.hardware.targets import Target

_STREAMED = 0.5
"""Of what is asked of L1, the part that comes from DRAM where little is asked for again."""


def with_cost(diagnostic: Diagnostic, kernel: KernelFacts, target: Target) -> Diagnostic:
    """The finding with its cost, where that can be told: it is about requests of memory, or about lanes that idle."""
    costs = [cost for cost in kernel.costs or () if kernel.launches[cost.launch] in diagnostic.launches]
    found = [own for cost in costs if (own := _cost_in(diagnostic, kernel, cost, target)) is not None]
    if not found:
        return diagnostic
    return replace(diagnostic, cost=max(found, key=lambda each: (each.share or 0.0, each.traffic_share or 0.0)))


def _cost_in(
    diagnostic: Diagnostic, kernel: KernelFacts, cost: LaunchCost, target: Target
) -> FindingCost | None:
    figures, work = diagnostic.figures, cost.work
    if work is None:
        return None
    if "ideal_sectors" in figures or "ideal_wavefronts" in figures:
        return _of_requests(diagnostic, kernel, cost, target)
    wasted = figures.get("wasted_share")
    if wasted is None:
        return None
    return finding_cost(cost, Excess(instructions=min(1.0, wasted) * work.instructions), target)


def _of_requests(
    diagnostic: Diagnostic, kernel: KernelFacts, cost: LaunchCost, target: Target
) -> FindingCost | None:
    work = cost.work
    assert work is not None
    own = [access for access in kernel.accesses if access.place == diagnostic.place]
    sectors, wavefronts = _share(own, kernel, cost.launch, shared=False), _share(own, kernel, cost.launch, shared=True)
    if sectors is None and wavefronts is None:
        return FindingCost(None, None, cost.bound)
    excess = Excess((sectors or 0.0) * work.sectors, (wavefronts or 0.0) * work.wavefronts)
    arrays = {access.array for access in own}
    is_alone = all(access.array not in arrays or access in own for access in kernel.accesses)
    if is_alone and work.dram_bytes >= _STREAMED * work.sectors * SECTOR_BYTES:
        # Nobody else uses the rest of what is fetched.
        excess = replace(excess, dram_bytes=(sectors or 0.0) * work.dram_bytes)
    return finding_cost(cost, excess, target)


def _share(own: list[Access], kernel: KernelFacts, launch: int, shared: bool) -> float | None:
    """What some accesses take beyond the ideal, as a part of what all of a kernel take; None if that is not known."""
    total = sum(requests * actual for _, requests, actual, _ in _figures(kernel.accesses, launch, shared))
    found = [requests * max(0.0, actual - ideal) for _, requests, actual, ideal in _figures(own, launch, shared)]
    return min(1.0, sum(found) / total) if total and found else None


def _figures(
    accesses: list[Access] | tuple[Access, ...], launch: int, shared: bool
) -> Iterator[tuple[Access, float, float, float]]:
    """The requests of accesses under a launch, with what one takes and would ideally take."""
    for access in accesses:
        if (access.space == "shared") is not shared:
            continue
        for result in access.results:
            actual, ideal = _per_request(result, shared)
            if result.launch == launch and result.requests and actual is not None and ideal is not None:
                yield access, result.requests, actual, ideal


def _per_request(result: AccessResult, shared: bool) -> tuple[float | None, float | None]:
    if shared:
        return result.wavefronts_per_request, result.ideal_wavefronts
    return result.sectors_per_request, result.ideal_sectors
