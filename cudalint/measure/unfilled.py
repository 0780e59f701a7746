"""Elements of shared arrays that nobody has written since the threads that do so in other blocks have returned.

A kernel whose threads fill a tile together, each its own element, needs all of them: those behind the end of the data
that have left by an early `return` leave holes in it, which the threads that stayed read as if they were data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from cudalint.execute.lanes import Extents, Lanes
from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent, Trace
from cudalint.execute.values import Data
from cudalint.ir.walk import walk
from cudalint.measure.arrays import Mask

_MOST = 1 << 22
"""Reads and writes of single threads that are looked at for one array."""


class Hole(Struct, frozen=True, eq=False):
    """An element that is read, and that nobody has written in this block."""

    read: AccessEvent
    array: Allocation
    thread: Extents
    """One that reads it."""
    block: Extents
    store: AccessEvent
    """What writes it in other blocks of this launch."""
    absent: Extents
    """The thread that does so there, and has returned here."""


def holes(trace: Trace) -> Iterator[Hole]:
    """The first one of each array, in a trace of a kernel that is known in full."""
    lanes = trace.lanes
    gone = _returned(trace)
    if gone is None:
        return
    results = _with_results(trace)
    by_array: dict[Allocation, list[AccessEvent]] = {}
    for event in trace.accesses:
        if event.allocation.space == "shared":
            by_array.setdefault(event.allocation, []).append(event)
    for array, events in by_array.items():
        stores = [event for event in events if event.operation != "load"]
        loads = [event for event in events if event.operation == "load" and event.data == 0]
        if _is_known(stores, events, trace) and loads:
            found = _hole_of(array, stores, loads, gone, results, lanes)
            if found is not None:
                yield found


def _returned(trace: Trace) -> Mask | None:
    """[R, L] the lanes that have returned before the first barrier that not all lanes of a row come to, in rows where
    others wait there; None without any."""
    gone = np.zeros(trace.lanes.full.shape, bool)
    for event in trace.barriers:
        if event.kind in ("syncthreads", "cooperative-groups") and event.expected is not None and not event.data:
            there = event.mask.any(axis=1, keepdims=True)
            gone |= trace.lanes.full & ~event.expected & there
    return gone if gone.any() else None


def _with_results(trace: Trace) -> Mask:
    """[R, L] the lanes that store data to global memory: what others read may have no effect."""
    found = np.zeros(trace.lanes.full.shape, bool)
    for event in trace.accesses:
        if event.allocation.space == "global" and event.operation != "load" and isinstance(event.value, Data):
            found |= event.mask
    return found


def _is_known(stores: Sequence[AccessEvent], events: Sequence[AccessEvent], trace: Trace) -> bool:
    """Whether all that is written to an array is in the trace, at places that are known."""
    if not stores or any(isinstance(event.offset, Data) for event in stores):
        return False
    if sum(event.mask.size for event in events) > _MOST:
        return False
    written = {id(event.node) for event in stores}
    return not any(id(node) in written for left in trace.left_out for node in walk(left.node))


def _hole_of(
    array: Allocation, stores: Sequence[AccessEvent], loads: Sequence[AccessEvent], gone: Mask, results: Mask,
    lanes: Lanes,
) -> Hole | None:  # fmt: skip
    unit = min(event.bytes for event in (*stores, *loads))
    for row in np.flatnonzero(gone.any(axis=1)).tolist():
        written: set[int] = set()
        for event in stores:
            written.update(_units(event, row, event.mask[row], unit).ravel().tolist())
        if not written:
            continue
        for load in loads:
            if isinstance(load.offset, Data) or not load.mask[row].any():
                continue
            starts = _units(load, row, load.mask[row], unit)
            missing = ~np.isin(starts, np.fromiter(written, np.int64, len(written)))
            readers = np.flatnonzero(load.mask[row])
            for at in np.flatnonzero(missing.any(axis=1) & results[row, readers]).tolist():
                place, reader = int(starts[at][missing[at]][0]), int(readers[at])
                found = _writer(place, stores, row, gone, unit, lanes)
                if found is not None:
                    thread, block = lanes.thread_of(reader), lanes.block_of(row)
                    return Hole(load, array, thread, block, found[0], lanes.thread_of(found[1]))
                break
    return None


def _writer(
    place: int, stores: Sequence[AccessEvent], row: int, gone: Mask, unit: int, lanes: Lanes
) -> tuple[AccessEvent, int] | None:
    """The store that writes a unit in another block of the same world, and the lane of it that has returned in a row.
    """
    first = lanes.world_of(row) * lanes.blocks
    for event in stores:
        for other in range(first, first + lanes.blocks):
            by_those = event.mask[other] & gone[row] & ~gone[other]
            if not by_those.any():
                continue
            hit = (_units(event, other, by_those, unit) == place).any(axis=1)
            if hit.any():
                return event, int(np.flatnonzero(by_those)[hit.argmax()])
    return None


def _units(event: AccessEvent, row: int, mask: Mask, unit: int) -> Any:
    """[n, units of an access] what the lanes of a mask touch."""
    offset = np.atleast_2d(np.asarray(event.offset, np.int64))
    own = np.broadcast_to(offset[row if len(offset) > 1 else 0], mask.shape)
    return own[mask][:, None] // unit + np.arange(max(1, event.bytes // unit))
