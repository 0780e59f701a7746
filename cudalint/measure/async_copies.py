"""What 16-byte asynchronous copies into shared memory take, which depends on where each lane reads: see
`hardware.banks.async_copies`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from cudalint.execute.trace import AccessEvent
from cudalint.execute.values import Data, Pointer
from cudalint.hardware.banks import async_copies, async_copy_range
from cudalint.hardware.requests import WARP_LANES
from cudalint.measure.arrays import Weights
from cudalint.measure.distinct import Extent, weights_by_row

_MOST_EVENTS = 64
"""That are looked at; further ones go on like these."""


class Copies(NamedTuple):
    """What one request takes, in the mean of each world; NaN where there is none."""

    least: Weights
    most: Weights
    """The same, where it is known what it takes."""
    ideal: Weights


def copies_of(events: Sequence[AccessEvent], extent: Extent) -> Copies:
    """The wavefronts of the copies whose addresses in shared memory are known."""
    totals = np.zeros((3, extent.worlds))
    requests = np.zeros(extent.worlds)
    for event in [event for event in events if not isinstance(event.offset, Data)][:_MOST_EVENTS]:
        mask = event.mask
        rows = len(mask)
        to, active = (_by_warp(each, mask) for each in (event.offset, mask))
        source = event.value.offset if type(event.value) is Pointer else None
        if source is None or isinstance(source, Data):
            low, high = async_copy_range(to, active)
            costs: Any = low, high, np.minimum(low, -(-active.sum(axis=-1) * 16 // 128))
        else:
            costs = async_copies(to, _by_warp(source, mask), active)
        weights = weights_by_row(event.weight, extent) * active.any(axis=-1)
        requests += weights.reshape(extent.worlds, -1).sum(axis=1)
        for total, each in zip(totals, costs, strict=True):
            total += (np.asarray(each, np.float64).reshape(rows, -1) * weights).reshape(extent.worlds, -1).sum(axis=1)
    means = np.divide(totals, requests, out=np.full_like(totals, np.nan), where=requests > 0)
    return Copies(*means)


def _by_warp(values: Any, mask: Any) -> Any:
    return np.broadcast_to(np.asarray(values), mask.shape).reshape(len(mask), -1, WARP_LANES)
