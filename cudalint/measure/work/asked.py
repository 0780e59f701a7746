"""How many requests each access of the source makes."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

from cudalint.execute.trace import Trace
from cudalint.execute.values import Data
from cudalint.measure.requests import AccessSite, site_of
from cudalint.measure.work.lengths import Lengths


class Requests(Struct):
    """Of one access, in one world."""

    number: float = 0.0
    """By warps, with loops as long as they are taken for."""
    by_data: bool = False
    """Data decides where some of them go."""


def requests_of(trace: Trace, lengths: Lengths, world: int = 0) -> dict[AccessSite, Requests]:
    """Of all accesses that are reached."""
    lanes = trace.lanes
    rows = slice(world * lanes.blocks, (world + 1) * lanes.blocks)
    found: dict[AccessSite, Requests] = {}
    counted: dict[tuple[int, int], float] = {}
    for event in trace.accesses:
        key = id(event.mask), id(event.weight)
        number = counted.get(key)
        if number is None:
            active: Any = lanes.by_warp(np.broadcast_to(event.mask, (lanes.rows, lanes.lanes))).any(axis=2)
            number = counted[key] = float((active * event.weight)[rows].sum())
        own = found.setdefault(site_of(event), Requests())
        own.number += number
        own.by_data |= isinstance(event.offset, Data)
    for site, own in found.items():
        own.number *= lengths.share(site.node, site.stack)
    return {site: own for site, own in found.items() if own.number}
