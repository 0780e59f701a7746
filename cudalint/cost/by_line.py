"""What lines of the source take of a launch: of its traffic, and of its time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from cudalint.cost.machine import machine_of
from cudalint.cost.model import estimate
from cudalint.facts import Access, AccessResult, KernelFacts, LaunchCost, Place, Work
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.hardware.swaps import swaps
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
    work, whole = cost.work, _Requests()
    if work is None or not cost.time_us:
        return {}
    lines: dict[Line, _Requests] = defaultdict(_Requests)
    for access, result in _known(kernel.accesses, cost.launch):
        for sums in (whole, *(lines[line] for line in lines_of(access))):
            sums.add(access, result)
    for place, stops in cost.stops.items():
        lines[place.path, place.line].barriers += stops
    machine = machine_of(target)
    passes = whole.sectors + whole.wavefronts
    return {
        line: Share(
            (own.sectors + own.wavefronts) / passes if passes else 0.0,
            max(0.0, 1.0 - estimate(_without(work, own, whole), machine).time / cost.time_us),
        )
        for line, own in lines.items()
    }


class _Requests(Struct):
    """Sums over the requests of some accesses."""

    requests: float = 0.0
    sectors: float = 0.0
    wavefronts: float = 0.0
    loads: float = 0.0
    """Requests of global memory that a warp waits for."""
    shared_loads: float = 0.0
    barriers: float = 0.0
    """That a warp waits at."""

    def add(self, access: Access, result: AccessResult) -> None:
        number, is_shared = result.requests or 0.0, access.space == "shared"
        passes = number * (per_request(access, result) or 0.0)
        self.requests += number
        if is_shared:
            self.wavefronts += passes
            self.shared_loads += number if access.operation == "load" else 0.0
        else:
            self.sectors += passes
            self.loads += number if access.operation == "load" else 0.0


def _without(work: Work, own: _Requests, whole: _Requests) -> Work:
    """The work of a launch without that of some accesses and barriers."""
    sectors, wavefronts = _left(own.sectors, whole.sectors), _left(own.wavefronts, whole.wavefronts)
    asked = sum(work.requests.values())
    instructions = max(0.0, work.instructions - asked * (1.0 - _left(own.requests, whole.requests)))
    waits = replace(
        work.waits,
        instructions=work.waits.instructions * (instructions / work.instructions if work.instructions else 1.0),
        loads=work.waits.loads * _left(own.loads, whole.loads),
        shared=work.waits.shared * _left(own.shared_loads, whole.shared_loads),
        barriers=max(0.0, work.waits.barriers - own.barriers),
    )
    return replace(
        work,
        sectors=work.sectors * sectors,
        passes=work.passes * sectors,
        l2_bytes=work.l2_bytes * sectors,
        dram_bytes=work.dram_bytes * sectors,
        wavefronts=work.wavefronts * wavefronts,
        instructions=instructions,
        waits=waits,
    )


def _left(own: float, whole: float) -> float:
    """What is left of a sum without a part of it, as a share."""
    return 1.0 - own / whole if whole else 1.0


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


_SWAPPED = ("float", "double")


def _of_swaps(access: Access, result: AccessResult) -> float | None:
    sample = result.sample
    if sample is None or not sample.weights.any():
        return None
    passes = swaps(sample.addresses, sample.mask, access.bytes, int(sample.warps.max()) + 1)
    return float(np.average(passes.wavefronts, weights=sample.weights))


def per_request(access: Access, result: AccessResult) -> float | None:
    """Sectors or, of shared memory, wavefronts; the middle of a range where only that is known, and an expectation
    where data decides about places. An atomic on a floating-point number in shared memory is a loop, all of whose
    passes are counted."""
    is_shared = access.space == "shared"
    if is_shared and access.operation == "atomic" and access.element_type in _SWAPPED:
        found = _of_swaps(access, result)
        if found is not None:
            return found
    exact = result.wavefronts_per_request if is_shared else result.sectors_per_request
    if exact is not None:
        return exact
    bounds = result.wavefronts_range if is_shared else result.sectors_range
    if bounds is not None:
        return sum(bounds) / 2
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
