"""Asynchronous copies that are under way: from where they are issued to where their thread waits for them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cudalint.execute.trace import AccessEvent, Trace


def under_way(trace: Trace) -> Iterator[tuple[int, AccessEvent]]:
    """The accesses that copies still make in the intervals after the one in which they are issued, each by its number
    in the trace. Who waits is taken to wait for all lanes."""
    issued = [
        (number, event) for number, event in enumerate(trace.accesses)
        if event.operation == "async-copy" and event.allocation.space == "shared"
    ]  # fmt: skip
    if not issued:
        return
    last = max((int(np.max(event.interval)) for event in trace.accesses), default=0)
    for number, event in issued:
        until = _waited_for(trace, number)
        end = last if until is None else until
        for after in range(1, min(end - int(np.min(event.interval)), _MOST) + 1):
            interval = event.interval + after
            mask = event.mask & (interval <= end) if isinstance(interval, np.ndarray) else event.mask
            yield number, event._replace(interval=interval, mask=mask)


_MOST = 64
"""Intervals in which one copy is looked at."""


def _waited_for(trace: Trace, number: int) -> int | None:
    """The interval in which a copy is known to be done; None for one that nobody waits for."""
    groups_after: int | None = None
    for step in trace.copies:
        if step.before <= number:
            continue
        if step.kept is None:
            groups_after = 0 if groups_after is None else groups_after + 1
        elif step.kept == 0 or (groups_after is not None and groups_after >= step.kept):
            return int(np.max(step.interval))
    return None
