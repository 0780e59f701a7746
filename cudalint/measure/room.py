"""How many threads a kernel's shared arrays have room for: a block that nothing gives is no larger than these."""

from __future__ import annotations

import numpy as np

from cudalint.execute.trace import AccessEvent, Trace
from cudalint.measure.bounds import extent_of


def threads_with_room(trace: Trace) -> tuple[int, str] | None:
    """How many threads along x stay within all shared arrays of fixed extents, at places that the thread alone decides,
    and the array that says so; None where all threads do."""
    least: tuple[int, str] | None = None
    for event in trace.accesses:
        if event.allocation.space == "shared" and not event.data:
            first = _first_outside(event)
            if first is not None and (least is None or first < least[0]):
                least = first, event.allocation.name
    return least


def _first_outside(event: AccessEvent) -> int | None:
    extent, offset = extent_of(event.allocation), event.offset
    if extent is None or type(offset) is not np.ndarray or len(offset) > 1 or offset.shape[1] == 1:
        return None
    outside = offset[0] > extent - event.bytes
    if not outside.any():
        return None
    rows = event.mask[event.mask.any(axis=1)]
    if not len(rows) or (rows != rows[0]).any():
        # Sizes, or the block, say who comes.
        return None
    wrong = rows[0] & outside
    return int(wrong.argmax()) if wrong.any() else None
