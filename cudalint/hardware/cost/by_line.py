"""What lines of the source take of a launch: of its traffic, and of its time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from cudalint.facts import Access, KernelFacts, LaunchCost, Place, Work
from cudalint.hardware.cost.machine import machine_of
from cudalint.hardware.cost.model import estimate
from cudalint.hardware.cost.requests import Asked, actual, counted
from cudalint.hardware.targets import Target

Line = tuple[str, int]
"""A path and the number of a line in it."""


class Share(NamedTuple):
    """Parts of a whole, 0 to 1."""

    traffic: float
    """Of what passes L1 and shared memory, of which a wavefront is as much as four sectors."""
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
    for access, result, number in counted(kernel.accesses, cost):
        asked = (actual(access, result) or Asked()).times(number)
        for sums in (whole, *(lines[line] for line in lines_of(access))):
            sums.add(access, number, asked)
    for place, stops in cost.stops.items():
        lines[place.path, place.line].barriers += stops
    machine = machine_of(target)
    traffic = whole.asked.traffic
    return {
        line: Share(
            own.asked.traffic / traffic if traffic else 0.0,
            max(0.0, 1.0 - estimate(_without(work, own, whole), machine).time / cost.time_us),
        )
        for line, own in lines.items()
    }


class _Requests(Struct):
    """Sums over the requests of some accesses."""

    requests: float = 0.0
    asked: Asked = Asked()
    loads: float = 0.0
    """Requests of global memory that a warp waits for."""
    shared_loads: float = 0.0
    barriers: float = 0.0
    """That a warp waits at."""

    def add(self, access: Access, number: float, asked: Asked) -> None:
        self.requests += number
        self.asked += asked
        if access.operation == "load" and access.space == "shared":
            self.shared_loads += number
        elif access.operation == "load":
            self.loads += number


def _without(work: Work, own: _Requests, whole: _Requests) -> Work:
    """The work of a launch without that of some accesses and barriers."""
    sectors = _left(own.asked.sectors, whole.asked.sectors)
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
        passes=work.passes * _left(own.asked.passes, whole.asked.passes),
        l2_bytes=work.l2_bytes * sectors,
        dram_bytes=work.dram_bytes * sectors,
        wavefronts=work.wavefronts * _left(own.asked.wavefronts, whole.asked.wavefronts),
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
