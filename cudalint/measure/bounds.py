"""Accesses that leave an allocation whose extent is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cudalint.execute.lanes import Lanes
from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent, Trace
from cudalint.execute.values import Data
from cudalint.ir import nodes as ir
from cudalint.measure.wrongs import Found, Site, Wrong, found_of, sites_of
from cudalint.worlds.records import Batch

ByWorld = tuple[int | None, ...]
"""Bytes in each world; None where nobody says how many."""


class Extents:
    """The bytes of allocations, world by world."""

    def __init__(
        self, worlds: int, sizes: Mapping[Allocation, ByWorld] | None = None, shared: ByWorld | None = None
    ) -> None:  # fmt: skip
        """`sizes` are those of what pointers lead to; `shared` is what there is of dynamic shared memory."""
        self.worlds, self._sizes, self._shared = worlds, dict(sizes or {}), shared

    @classmethod
    def of(cls, batch: Batch, has_shared: bool) -> Extents:
        """`has_shared` is whether somebody says how much dynamic shared memory there is."""
        sizes = {allocation: size.bytes for allocation, size in batch.sizes.items()}
        return cls(len(batch), sizes, batch.shared if has_shared else None)

    def __call__(self, allocation: Allocation) -> ByWorld | None:
        """None where nobody says anything of it."""
        found = self._sizes.get(allocation)
        if found is not None:
            # What comes to nothing, or less, is no size: nobody allocates that, or it has overflowed.
            return tuple(own if own is not None and own > 0 else None for own in found)
        if allocation.space == "shared" and is_open(allocation.type):
            return self._shared
        own = extent_of(allocation)
        return (own,) * self.worlds if own is not None else None

    def is_declared(self, allocation: Allocation) -> bool:
        return allocation not in self._sizes


def extent_of(allocation: Allocation) -> int | None:
    """Bytes of an allocation by its declaration; None where that leaves it open."""
    if allocation.extent is not None:
        return allocation.extent
    type_ = allocation.type
    if type_ is None or allocation.space == "nowhere" or isinstance(type_, ir.OpaqueType) or is_open(type_):
        return None
    if isinstance(type_, ir.RecordType) and type_.unsized:
        return None
    return type_.bytes or None


def is_open(type_: ir.Type | None) -> bool:
    """Whether the source leaves an extent open, as `extern __shared__ float a[]` does."""
    return isinstance(type_, ir.ArrayType) and (type_.count is None or is_open(type_.element))


def outside(trace: Trace, extents: Extents) -> list[Found]:
    """The sites at which lanes leave their allocation, in the order of the trace: those that data decides about only
    where the same access doesn't do so for certain."""

    def asks(site: Site) -> Wrong | None:
        # Where the bytes that are accessed are not known those from its start are not either.
        return leaves(extents(site.allocation), trace.lanes) if site.bytes else None

    found = list(found_of(sites_of((*trace.accesses, *trace.overruns)), trace, asks))
    certain = {each.site[:-1] for each in found if not each.site.is_conditional}
    return [each for each in found if not each.site.is_conditional or each.site[:-1] not in certain]


def leaves(extent: ByWorld | None, lanes: Lanes) -> Wrong | None:
    """Whether lanes leave what has so many bytes; None where nobody says how many in any world."""
    if extent is None or all(own is None for own in extent):
        return None
    most: Any = extent[0]
    if len(set(extent)) > 1:
        # Where nobody knows, there is room for all.
        numbers = np.array([_ANY if own is None else own for own in extent], np.int64)
        most = np.repeat(numbers, lanes.blocks)[:, None]

    def leave(event: AccessEvent, offset: Any) -> Any:
        last = most - event.bytes
        if type(offset) is not np.ndarray:
            return (offset < 0) | (offset > last)
        # Most are right even for the lanes that don't come.
        if int(offset.min()) >= 0 and int(offset.max()) <= (last if type(last) is int else int(last.min())):
            return False
        return (offset < 0) | (offset > last)

    return leave


_ANY = 1 << 62


def ends(events: Sequence[AccessEvent], lanes: Lanes) -> tuple[int, ...]:
    """One past the last byte that lanes touch in each world, as far as offsets are known; 0 where none is."""
    most = np.zeros(lanes.worlds, np.int64)
    for event in events:
        if isinstance(event.offset, Data):
            continue
        offsets = np.where(event.mask, event.offset, -event.bytes).max(axis=1)
        rows = np.broadcast_to(offsets, (lanes.rows,)).reshape(lanes.worlds, lanes.blocks)
        most = np.maximum(most, rows.max(axis=1) + event.bytes)
    return tuple(most.tolist())
