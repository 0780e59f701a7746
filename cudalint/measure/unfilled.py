"""Elements of shared arrays that nobody has written in a block since threads there do without a store that they make in
others: those behind the end of the data have left by an early `return`, or skip the store by its guard.

What is read of such an element is whatever was there before. It matters where it goes into what the block stores to
global memory; a thread whose own result nobody stores may read what it likes.
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
from cudalint.measure.filled import for_which_sizes
from cudalint.measure.seen import Seen
from cudalint.measure.unwritten import reaches_global, units_of
from cudalint.worlds.records import Batch

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
    """The thread that does so there."""
    has_returned: bool
    """It has left here; else it skips the store."""
    size: str | None
    """The condition under which there is such an element, where there is one for some sizes only."""


def holes(seen: Seen, batch: Batch) -> Iterator[Hole]:
    """The first one of each array, in a trace of a kernel that is known in full."""
    by_array: dict[Allocation, list[AccessEvent]] = {}
    for event in seen.trace.accesses:
        if event.allocation.space == "shared":
            by_array.setdefault(event.allocation, []).append(event)
    for array, events in by_array.items():
        stores = [event for event in events if event.operation != "load"]
        loads = [event for event in events if event.operation == "load" and event.data == 0]
        # Where all threads of all blocks make all stores, no block lacks what another one has.
        if all(event.mask is seen.trace.lanes.full for event in stores) or not _is_known(stores, events, seen.trace):
            continue
        found = _Array(array, stores, loads, seen).hole(batch)
        if found is not None:
            yield found


def _returned(trace: Trace) -> Mask:
    """[R, L] the lanes that have returned before a barrier at which others wait."""
    gone = np.zeros(trace.lanes.full.shape, bool)
    for event in trace.barriers:
        if event.kind in ("syncthreads", "cooperative-groups") and event.expected is not None and not event.data:
            gone |= trace.lanes.full & ~event.expected & event.mask.any(axis=1, keepdims=True)
    return gone


def _is_known(stores: Sequence[AccessEvent], events: Sequence[AccessEvent], trace: Trace) -> bool:
    """Whether all that is written to an array is in the trace, at places that are known."""
    if not stores or any(isinstance(event.offset, Data) for event in stores):
        return False
    if sum(event.mask.size for event in events) > _MOST:
        return False
    written = {id(event.node) for event in stores}
    return not any(id(node) in written for left in trace.left_out for node in walk(left.node))


class _Array:
    """One array in all blocks that were executed."""

    def __init__(
        self, array: Allocation, stores: Sequence[AccessEvent], loads: Sequence[AccessEvent], seen: Seen
    ) -> None:
        self._array, self._stores, self._loads, self._seen = array, stores, loads, seen
        self._lanes: Lanes = seen.trace.lanes
        self._unit = min(event.bytes for event in (*stores, *loads))
        self._written: dict[int, Any] = {}

    def hole(self, batch: Batch) -> Hole | None:
        lanes, first = self._lanes, None
        holds: list[bool | None] = [False] * lanes.worlds
        for row in range(lanes.rows):
            world = lanes.world_of(row)
            # The data ends in a block behind the first.
            if holds[world] or not lanes.full[row].any() or lanes.block_of(row) == (0, 0, 0):
                continue
            found = self._in_row(row)
            if found is not None:
                holds[world] = True
                first = first or (row, *found)
        if first is None:
            return None
        row, load, reader, store, writer = first
        size = None if all(holds) else for_which_sizes(holds, lanes.world_of(row), batch)
        return Hole(
            load, self._array, lanes.thread_of(reader), lanes.block_of(row), store, lanes.thread_of(writer),
            bool(_returned(self._seen.trace)[row, writer]), size,
        )  # fmt: skip

    def _in_row(self, row: int) -> tuple[AccessEvent, int, AccessEvent, int] | None:
        """A load there of what nobody writes there, its lane, and who writes it in another block."""
        written = self._of(row)
        if not len(written):
            return None
        matters: bool | None = None
        for load in self._loads:
            if isinstance(load.offset, Data) or not load.mask[row].any():
                continue
            places = units_of(load, row, load.mask[row], self._unit)
            missing = ~np.isin(places, written)
            if missing.any() and matters is None:
                matters = reaches_global(self._array, row, self._seen)
                if not matters:
                    return None
            if missing.any():
                at = int(missing.any(axis=1).argmax())
                reader = int(np.flatnonzero(load.mask[row])[at])
                writer = self._writer(int(places[at][missing[at]][0]), row)
                if writer is not None:
                    return load, reader, *writer
        return None

    def _asks_for_the_end(self, event: AccessEvent) -> bool:
        """Whether a condition on the way is about the place of a thread in the grid."""
        found = map(self._seen.origins_of, self._seen.ways.guards_of(event.node, event.stack))
        return any(each.by_thread and each.by_block for each in found)

    def _of(self, row: int) -> Any:
        if row not in self._written:
            parts = [units_of(event, row, event.mask[row], self._unit).ravel() for event in self._stores]
            self._written[row] = np.unique(np.concatenate(parts))
        return self._written[row]

    def _writer(self, place: int, row: int) -> tuple[AccessEvent, int] | None:
        """The store that writes a unit in another block of the same world, and the lane that doesn't make it here since
        it is behind the end of the data."""
        first = self._lanes.world_of(row) * self._lanes.blocks
        for event in filter(self._asks_for_the_end, self._stores):
            for other in range(first, first + self._lanes.blocks):
                missing = event.mask[other] & ~event.mask[row]
                if event.data or not missing.any():
                    continue
                hit = (units_of(event, other, missing, self._unit) == place).any(axis=1)
                if hit.any():
                    return event, int(np.flatnonzero(missing)[hit.argmax()])
        return None
