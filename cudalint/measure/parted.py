"""Requests whose lanes go to several arrays, as a pointer leads each of them to one: `(t & 1 ? even : odd)[t / 2]`.

The execution leaves an event for each array. To the machine they are one instruction, and the lanes of a warp one
request, which takes the sectors of all of the arrays; what is measured of the access is the mean over its requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from cudalint.execute.trace import AccessEvent, Trace
from cudalint.execute.values import Data
from cudalint.measure.requests import AccessSite, site_of

_APART = 1 << 40
"""Bytes from one array to the next: more than any has, and whole sectors and rounds of the banks."""


def whole_sites(trace: Trace) -> dict[AccessSite, list[AccessEvent]]:
    """The executions of each access, in their order; those of several arrays by one pointer as one."""
    found: dict[AccessSite, list[AccessEvent]] = {}
    for event in _whole(trace.accesses):
        site = site_of(event)
        found.setdefault(site, []).append(event)
    return found


def _whole(events: Iterable[AccessEvent]) -> Iterator[AccessEvent]:
    parts: list[AccessEvent] = []
    for event in events:
        if parts and not _goes_on(parts, event):
            yield _together(parts)
            parts = []
        if event.chosen is None:
            yield event
        else:
            parts.append(event)
    if parts:
        yield _together(parts)


def _goes_on(parts: Sequence[AccessEvent], event: AccessEvent) -> bool:
    """Whether an event is of the same execution as those before it: each array comes once in it."""
    last = parts[-1]
    return (
        event.chosen is last.chosen and event.node is last.node and event.stack is last.stack
        and (event.operation, event.bytes) == (last.operation, last.bytes)
        and all(event.allocation is not part.allocation for part in parts)
    )  # fmt: skip


def _together(parts: Sequence[AccessEvent]) -> AccessEvent:
    """One event for the lanes of all parts, whose arrays are taken to begin with whole sectors, far from each other."""
    first = parts[0]
    assert first.chosen is not None
    mask, weight = np.logical_or.reduce([part.mask for part in parts]), first.weight
    if any(isinstance(part.offset, Data) for part in parts):
        offset: Any = next(part.offset for part in parts if isinstance(part.offset, Data))
    else:
        order = {part: number for number, part in enumerate(first.chosen.parts)}
        offset = np.zeros(mask.shape, np.int64)
        for part in parts:
            offset = np.where(part.mask, np.asarray(part.offset) + order[part.allocation] * _APART, offset)
    return first._replace(allocation=first.chosen, offset=offset, mask=mask, weight=weight)
