"""How many threads a kernel's shared arrays have room for: a block that nothing gives is no larger than these."""

from __future__ import annotations

import numpy as np

from cudalint.execute.trace import AccessEvent, Trace


def threads_with_room(trace: Trace) -> tuple[int, str] | None:
    """How many threads along x stay within all shared arrays of fixed extents, at places that the thread alone decides,
    and the array that says so; None where all threads do."""
    least: tuple[int, str] | None = None
    for event in trace.accesses:
        first = _first_outside(event, trace)
        if first is not None and (least is None or first < least[0]):
            least = first, event.allocation.name
    return least


def _first_outside(event: AccessEvent, trace: Trace) -> int | None:
    target, offset = event.allocation, event.offset
    bytes_ = target.type.bytes if target.type is not None else 0
    if target.space != "shared" or not bytes_ or event.data or not isinstance(offset, np.ndarray):
        return None
    if offset.shape[0] != 1:
        # The block, or a size, goes into it.
        return None
    # Where blocks or worlds differ in who comes, something else than the thread decides it.
    exists = trace.lanes.full.any(axis=1)
    masks = event.mask[exists] if len(event.mask) > 1 else event.mask
    if not (masks == masks[0]).all():
        return None
    outside = masks[0] & (offset[0] + event.bytes > bytes_)
    return int(np.argmax(outside)) if outside.any() else None
