"""What lanes do wrong at a site, world by world: who comes to it, in which worlds it is wrong, and who is the first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct

from cudalint.execute.lanes import Extents, Lanes
from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent, Stack, Trace
from cudalint.execute.values import Data
from cudalint.facts import Operation
from cudalint.measure.arrays import Flags, Mask


class Site(NamedTuple):
    """An access of the source to one piece of memory, as calls lead there."""

    node: Any
    stack: Stack
    operation: Operation
    bytes: int
    allocation: Allocation
    is_conditional: bool
    """Data decides whether lanes come to it."""


Wrong = Callable[[Any], Any]
"""Which lanes would do something wrong at an offset if they came: what broadcasts to [R, L], or plain False."""


class Offender(NamedTuple):
    """The first thread that is wrong in a world, in its first such execution."""

    thread: Extents
    block: Extents
    offset: int
    """Where its access begins, in bytes from the start of the allocation."""


class Found(Struct, frozen=True, eq=False):
    """A site at which something is wrong in some world."""

    site: Site
    holds: tuple[bool | None, ...]
    """Whether it is wrong in each world; None where nobody comes there."""
    offenders: tuple[Offender | None, ...]
    """Of each world."""
    only_in_last: tuple[tuple[bool, bool, bool], ...]
    """Whether in each world all threads that are wrong are in the last block along an axis, the only one or not."""

    @property
    def worlds(self) -> tuple[int, ...]:
        """In which it is wrong."""
        return tuple(world for world, held in enumerate(self.holds) if held)

    @property
    def first(self) -> int:
        """The first of them, which is the one that is reported."""
        return self.worlds[0]

    @property
    def offender(self) -> Offender:
        offender = self.offenders[self.first]
        assert offender is not None
        return offender


def sites_of(events: Iterable[AccessEvent]) -> dict[Site, list[AccessEvent]]:
    """The executions of each access of which the offsets are known, in the order in which the first ones come."""
    found: dict[Site, list[AccessEvent]] = {}
    for event in events:
        if not isinstance(event.offset, Data):
            site = Site(
                event.node, event.stack, event.operation, event.bytes, event.allocation, event.data > 0
            )
            found.setdefault(site, []).append(event)
    return found


def found_of(
    sites: dict[Site, list[AccessEvent]], trace: Trace, wrong: Callable[[Site], Wrong | None]
) -> Iterator[Found]:
    """The sites at which something is wrong; `wrong` is asked for what that is at a site."""
    for site, events in sites.items():
        asks = wrong(site)
        if asks is not None and any(_lanes(event, asks) is not None for event in events):
            yield _found(site, events, trace, asks)


def by_world(lanes: Lanes, mask: Mask) -> Flags:
    """[R, L] or [R, 1] to whether any lane of a world has it."""
    of_rows: Any = np.any(mask, axis=1)
    rows = np.broadcast_to(of_rows, (lanes.rows,))
    found: Any = rows.reshape(lanes.worlds, lanes.blocks)
    worlds: Flags = found.any(axis=1)
    return worlds


def _lanes(event: AccessEvent, asks: Wrong) -> Mask | None:
    """The active lanes that are wrong; None where there are none."""
    wrong = asks(event.offset)
    if wrong is False or not np.any(wrong):
        return None
    lanes: Mask = event.mask & wrong
    return lanes if lanes.any() else None


def _found(site: Site, events: Sequence[AccessEvent], trace: Trace, asks: Wrong) -> Found:
    lanes = trace.lanes
    # What goes right in a thread's own memory leaves no event.
    reached: Any = np.zeros(lanes.worlds, bool) | trace.insides.get((site.node, site.stack), False)
    offenders: list[Offender | None] = [None] * lanes.worlds
    rows: Any = np.zeros(lanes.rows, bool)
    for event in events:
        np.logical_or(reached, by_world(lanes, event.mask), out=reached)
        wrong = _lanes(event, asks)
        if wrong is None:
            continue
        own: Any = wrong.any(axis=1)
        rows |= own
        for row in np.flatnonzero(own).tolist():
            world = lanes.world_of(row)
            if offenders[world] is None:
                lane = int(wrong[row].argmax())
                offset = int(np.broadcast_to(event.offset, wrong.shape)[row, lane])
                offenders[world] = Offender(lanes.thread_of(lane), lanes.block_of(row), offset)
    holds = tuple(
        offender is not None if came else None for offender, came in zip(offenders, reached.tolist(), strict=True)
    )
    return Found(site, holds, tuple(offenders), tuple(_in_last(lanes, rows, world) for world in range(lanes.worlds)))


def _in_last(lanes: Lanes, rows: Flags, world: int) -> tuple[bool, bool, bool]:
    """Along which axes all rows of a world that are among these have the last block."""
    own = range(world * lanes.blocks, (world + 1) * lanes.blocks)
    places = [lanes.places[row] for row in own if rows[row]]
    last = []
    for axis, extent in enumerate(lanes.built_in["gridDim"]):
        blocks = int(np.broadcast_to(extent, (lanes.rows, 1))[own[0], 0])
        last.append(bool(places) and all(place[axis] == blocks - 1 for place in places))
    return last[0], last[1], last[2]
