"""How many threads a kernel's shared arrays have room for: a block that nothing gives is no larger than these."""

from __future__ import annotations

import numpy as np

from cudalint.evaluate.checks.probes import active_lanes
from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.execution import Execution
from cudalint.evaluate.requests.views import LaunchView
from cudalint.interpreter.device.events import AccessEvent
from cudalint.values.nodes import THREAD_BITS


def threads_with_room(execution: Execution) -> tuple[int, str] | None:
    """How many threads along x stay within all shared arrays of fixed extents, at places that the thread alone decides,
    and the array that says so; None where all threads do."""
    least: tuple[int, str] | None = None
    for event in execution.events:
        first = _first_outside(event, execution.view) if isinstance(event, AccessEvent) else None
        if first is not None and isinstance(event, AccessEvent) and (least is None or first < least[0]):
            least = first, event.target.name
    return least


def _first_outside(event: AccessEvent, view: LaunchView) -> int | None:
    target = event.target
    if target.space != "shared" or not target.bytes or event.one_of or target.opaque is not None:
        return None
    if not event.offset.bits or event.offset.bits & ~THREAD_BITS:
        return None
    if any(c.bits & THREAD_BITS and c.bits & ~THREAD_BITS for c in event.context.conditions):
        # Sizes or data say who comes.
        return None
    on = dependence(event.context, event.offset, view.graph)
    rows = view.quick().rows(event.context.loops)
    ends = rows.integers(event.offset) + event.bytes
    outside = (active_lanes(rows, on.known) & (ends > target.bytes)).any(axis=0)
    return int(np.argmax(outside)) if outside.any() else None
