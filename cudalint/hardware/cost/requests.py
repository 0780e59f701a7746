"""What requests of a launch ask of L1 and of shared memory, and what they would ask for if their figures were ideal.

Work, the excess of findings and the shares of lines are sums over these, so that they agree with one another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from msgspec import Struct

from cudalint.facts import Access, AccessResult, LaunchCost, Place, Sample
from cudalint.facts.costs import AccessPlace
from cudalint.hardware.banks import shared_request
from cudalint.hardware.cost.model import traffic
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.hardware.swaps import swaps

_LINE_BYTES = 128
_KNOWN: WeakKeyDictionary[Sample, dict[int, float]] = WeakKeyDictionary()
"""The passes of samples, by the bytes of each lane: every finding in an array asks for those of all its accesses."""


class Asked(Struct, frozen=True):
    """What some requests ask for."""

    sectors: float = 0.0
    """Of global memory."""
    passes: float = 0.0
    """Clocks of an SM's L1 that these take."""
    wavefronts: float = 0.0
    """Of shared memory."""

    @property
    def traffic(self) -> float:
        """Through L1 and shared memory, in units of 128 bytes: a wavefront is one, and so are four sectors."""
        return traffic(self.sectors, self.wavefronts)

    def __add__(self, other: Asked) -> Asked:
        return Asked(self.sectors + other.sectors, self.passes + other.passes, self.wavefronts + other.wavefronts)

    def times(self, number: float) -> Asked:
        return Asked(number * self.sectors, number * self.passes, number * self.wavefronts)

    def beyond(self, ideal: Asked) -> Asked:
        """What goes away if it becomes ideal."""
        return Asked(
            max(0.0, self.sectors - ideal.sectors),
            max(0.0, self.passes - ideal.passes),
            max(0.0, self.wavefronts - ideal.wavefronts),
        )


def number_of(access: Access, result: AccessResult, shares: Mapping[AccessPlace, float]) -> float:
    """How many requests of an access count, with the numbers that costs rest on."""
    number = result.requests if result.usual_requests is None else result.usual_requests
    return (number or 0.0) * shares.get((access.place, access.inlined_from), 1.0)


def counted(accesses: Iterable[Access], cost: LaunchCost) -> Iterator[tuple[Access, AccessResult, float]]:
    """The results of accesses under a launch, with how many of their requests its cost counts."""
    for access in accesses:
        for result in access.results:
            number = number_of(access, result, cost.shares)
            if result.launch == cost.launch and result.requests and number:
                yield access, result, cost.scale * number


def shared_in(place: Place, accesses: Iterable[Access]) -> list[Access]:
    """The accesses of shared memory that stand in a piece of source."""
    begin, end = (place.line, place.column), (place.end_line, place.end_column)
    return [
        access
        for access in accesses
        if access.space == "shared" and access.place.path == place.path
        and begin <= (access.place.line, access.place.column)
        and (access.place.end_line, access.place.end_column) <= end
    ]  # fmt: skip


def all_are_counted(accesses: Iterable[Access], cost: LaunchCost) -> bool:
    """Whether it is known of each access how many requests it makes under a launch, and what they ask for."""
    return all(
        result.status == "unreached" or (result.requests is not None and actual(access, result) is not None)
        for access in accesses
        for result in access.results
        if result.launch == cost.launch
    )


def total(accesses: Iterable[Access], cost: LaunchCost) -> Asked:
    """All that accesses ask for under a launch, as far as it is known."""
    found = Asked()
    for access, result, number in counted(accesses, cost):
        own = actual(access, result)
        found += own.times(number) if own is not None else Asked()
    return found


def excess(accesses: Iterable[Access], cost: LaunchCost) -> Asked | None:
    """What accesses ask for beyond the ideal under a launch; None where that is not known of any."""
    found = None
    for access, result, number in counted(accesses, cost):
        own, least = actual(access, result), ideal(access, result)
        if own is not None and least is not None:
            found = (found or Asked()) + own.beyond(least).times(number)
    return found


def actual(access: Access, result: AccessResult) -> Asked | None:
    """What one request asks for, on average."""
    number = per_request(access, result)
    if number is None:
        return None
    if access.space == "shared":
        return Asked(wavefronts=number)
    return Asked(number, _passes(access, result, number))


def ideal(access: Access, result: AccessResult) -> Asked | None:
    """What one would ask for if its lanes' bytes were side by side, or without conflicts."""
    if access.space == "shared":
        number, now, least = per_request(access, result), result.wavefronts_per_request, result.ideal_wavefronts
        if least is None or number is None:
            return None
        # An atomic that is a loop goes on being one.
        return Asked(wavefronts=number * min(1.0, least / now) if now else least)
    sectors = result.ideal_sectors
    return None if sectors is None else Asked(sectors, _least_passes(access, result))


_SWAPPED = ("float", "double")


class Swapped(NamedTuple):
    """What one request of such an atomic becomes."""

    wavefronts: float
    passes: float
    """How often a warp goes round the loop."""
    sums: float
    """That lanes compute."""


def swapped(access: Access, result: AccessResult) -> Swapped | None:
    """What one request of an atomic on a floating-point number in shared memory becomes, on average, which is a loop;
    None for any other access."""
    sample = result.sample
    if access.space != "shared" or access.operation != "atomic" or access.element_type not in _SWAPPED:
        return None
    if sample is None or not sample.weights.any():
        return None
    found = swaps(sample.addresses, sample.mask, access.bytes, int(sample.warps.max()) + 1)
    means = (float(np.average(each, weights=sample.weights)) for each in (found.wavefronts, found.passes, found.lanes))
    return Swapped(*means)


def per_request(access: Access, result: AccessResult) -> float | None:
    """Sectors or, of shared memory, wavefronts; the middle of a range where only that is known, and an expectation
    where data decides about places. An atomic on a floating-point number in shared memory is a loop, all of whose
    passes are counted."""
    loop = swapped(access, result)
    if loop is not None:
        return loop.wavefronts
    found = access.per_request(result)
    if found.actual is not None:
        return found.actual
    if found.bounds is not None:
        return sum(found.bounds) / 2
    is_scattered = result.status == "data-dependent" and access.space == "global"
    return _scattered(access, result.active_lanes or WARP_LANES) if is_scattered else None


def _scattered(access: Access, lanes: float) -> float:
    """The sectors of lanes for which data chooses the elements of an array: neither all side by side nor all apart, and
    so the geometric mean of both. Measured on an H200 are 8 sectors for 32 lanes that take the corners of a mesh's
    cells (doubles), and 15 for what the entries of a sparse matrix name (floats)."""
    least = max(1.0, lanes * access.bytes / SECTOR_BYTES)
    most = lanes * max(1.0, access.bytes / SECTOR_BYTES)
    declared = access.declaration.total_bytes if access.declaration is not None else None
    if declared:
        # Of few, some lanes have the same.
        room = max(1.0, declared / SECTOR_BYTES)
        most = room * -math.expm1(-most / room)
    return math.sqrt(min(least, most) * most)


def _passes(access: Access, result: AccessResult, sectors: float) -> float:
    """Clocks that L1 takes for a request. It is the memory that shared memory is, in lines of 128 bytes: each of the 32
    banks gives a word in a clock, so that words of several lines at one place of theirs take turns. On an H100 24 lines
    of records of 24 floats, eight of whose words are in one bank, took about 10 clocks (`loads` in
    benchmarks/records.cu), and 32 lines of rows of 4096 floats 33 (SGEMM_CUDA's naive product)."""
    sample = result.sample
    if sample is None or not sample.weights.any():
        # What data chooses lies apart.
        return sectors if result.status == "data-dependent" else _least_passes(access, result)
    known = _KNOWN.setdefault(sample, {})
    if access.bytes not in known:
        passes, _ = shared_request(sample.addresses, sample.mask, access.bytes, "load")
        known[access.bytes] = max(1.0, float(np.average(passes, weights=sample.weights)))
    return known[access.bytes]


def _least_passes(access: Access, result: AccessResult) -> float:
    """One for every 128 bytes that the lanes ask for."""
    return max(1.0, (result.active_lanes or WARP_LANES) * access.bytes / _LINE_BYTES)
