"""What lines of the source take of a launch: of its traffic, and of its time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from cudalint.cost.findings import finding_cost
from cudalint.facts import Access, AccessResult, Excess, KernelFacts, LaunchCost, Place
from cudalint.hardware.targets import Target

Line = tuple[str, int]
"""A path and the number of a line in it."""


class Share(NamedTuple):
    """Parts of a whole, 0 to 1."""

    traffic: float
    """Of all sectors and wavefronts that pass L1 and shared memory."""
    time: float
    """Of the launch's predicted time, what would go away with the line's accesses and barriers. Shares of lines need
    not add up to the whole: what one of them waits for, another one may wait for, too."""


def by_line(kernel: KernelFacts, cost: LaunchCost, target: Target) -> Mapping[Line, Share]:
    """The shares of each line that accesses memory or waits at a barrier, itself or in what it calls. Empty where the
    launch's cost is not known."""
    work = cost.work
    if work is None or not cost.time_us:
        return {}
    sectors, wavefronts, requests = (defaultdict[Line, float](float) for _ in range(3))
    total_sectors = total_wavefronts = total = 0.0
    for access, result in _known(kernel.accesses, cost.launch):
        number = result.requests or 0.0
        is_shared = access.space == "shared"
        passes = number * _per_request(result, is_shared)
        total += number
        total_sectors += 0.0 if is_shared else passes
        total_wavefronts += passes if is_shared else 0.0
        for line in lines_of(access):
            (wavefronts if is_shared else sectors)[line] += passes
            requests[line] += number
    barriers: dict[Line, float] = defaultdict(float)
    for place, stops in cost.stops.items():
        barriers[place.path, place.line] += stops
    asked = sum(work.requests.values())
    found = {}
    for line in {*sectors, *wavefronts, *barriers}:
        of_sectors = sectors[line] / total_sectors if total_sectors else 0.0
        of_wavefronts = wavefronts[line] / total_wavefronts if total_wavefronts else 0.0
        excess = Excess(
            sectors=of_sectors * work.sectors,
            wavefronts=of_wavefronts * work.wavefronts,
            dram_bytes=of_sectors * work.dram_bytes,
            instructions=requests[line] / total * asked if total else 0.0,
            barriers=barriers[line],
        )
        taken = finding_cost(cost, kernel.launches[cost.launch], excess, target)
        found[line] = Share(taken.traffic_share or 0.0, taken.share or 0.0)
    return found


def lines_of(access: Access) -> set[Line]:
    """The line of an access, and those of the calls that lead there."""
    return {_line(access.place), *((frame.path, frame.line) for frame in access.inlined_from)}


def _line(place: Place) -> Line:
    return place.path, place.line


def _known(accesses: Iterable[Access], launch: int) -> Iterator[tuple[Access, AccessResult]]:
    for access in accesses:
        for result in access.results:
            if result.launch == launch and result.requests:
                yield access, result


def _per_request(result: AccessResult, is_shared: bool) -> float:
    """Sectors or wavefronts; the middle of a range where only that is known."""
    exact = result.wavefronts_per_request if is_shared else result.sectors_per_request
    if exact is not None:
        return exact
    bounds = result.wavefronts_range if is_shared else result.sectors_range
    return sum(bounds) / 2 if bounds is not None else 0.0
