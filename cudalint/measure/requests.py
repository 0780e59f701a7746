"""The warp-level requests of each access, and their figures: see `hardware/sectors.py` and `hardware/banks.py`.

All worlds of a launch are looked at together. The figures of a site are arrays by world.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec import Struct

from cudalint.execute.memory import MemorySpace
from cudalint.execute.trace import AccessEvent, Stack, Trace
from cudalint.execute.values import Data, Pointer
from cudalint.facts import Operation
from cudalint.hardware.banks import BANK_BYTES, async_copies, async_copy_range, shared_request
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import SECTOR_BYTES, global_request
from cudalint.measure.arrays import Integers, Weights
from cudalint.measure.distinct import (
    NOTHING,
    Extent,
    Group,
    Pattern,
    distinct_of,
    executions,
    groups,
    merged,
    prints_of,
    weights_by_row,
)
from cudalint.measure.strides import Steps, Strides

_COPIED = 16
"""Bytes of asynchronous copies whose figures depend on where they read, too."""
WIDTHS = frozenset({1, 2, 4, 8, 16})
"""Bytes that a lane may move by one request. An access has others where the size of its type is not known."""
Status = Literal["exact", "by data", "unreached"]


class AccessSite(NamedTuple):
    """An access of the source, as calls lead there. One that goes to several arrays, or has several widths, is several.
    """

    node: Any
    operation: Operation
    bytes: int
    space: MemorySpace
    stack: Stack
    array: str


class Figures(Struct, frozen=True, eq=False):
    """What one request of a site takes in the mean, in each of W worlds. Arrays [W]; NaN where no request has an
    address that is known."""

    requests: Weights
    """Executions by a warp with at least one active lane, of known addresses."""
    cost: Weights
    """Sectors of global memory, wavefronts of shared memory."""
    ideal: Weights
    least: Weights
    most: Weights
    """Of single requests."""
    lanes: Weights
    """That are active."""
    by_data: Weights
    """Executions whose addresses are data."""
    lowest: Integers
    highest: Integers
    """The first byte that an active lane touches, and the one behind the last; both 0 where none is known."""
    strides: Strides

    @property
    def status(self) -> tuple[Status, ...]:
        """Of each world. `by data` is where some addresses are data; there may be figures of the others."""
        reached = zip(self.requests.tolist(), self.by_data.tolist(), strict=True)
        return tuple("by data" if data else "exact" if known else "unreached" for known, data in reached)


def figures(trace: Trace) -> dict[AccessSite, Figures]:
    """Of each site that is reached in some world, and of which it is known how much it moves."""
    patterns: dict[int, Pattern] = {}
    known = ((site, events) for site, events in sites(trace).items() if site.bytes in WIDTHS)
    found = {site: figures_of(site, events, trace, patterns) for site, events in known}
    return {site: own for site, own in found.items() if own.requests.any() or own.by_data.any()}


def sites(trace: Trace) -> dict[AccessSite, list[AccessEvent]]:
    """The executions of each access, in their order."""
    found: dict[AccessSite, list[AccessEvent]] = {}
    for event in trace.accesses:
        site = site_of(event)
        found.setdefault(site, []).append(event)
    return found


def site_of(event: AccessEvent) -> AccessSite:
    of = event.allocation
    return AccessSite(event.node, event.operation, event.bytes, of.space, event.stack, of.name)


def figures_of(
    site: AccessSite, events: Sequence[AccessEvent], trace: Trace, patterns: dict[int, Pattern] | None = None
) -> Figures:
    """Of one site; `patterns` keeps what was found out about masks for other sites of the trace."""
    patterns = {} if patterns is None else patterns
    extent = Extent.of(trace.lanes)
    steps, parts = Steps(trace.lanes.block, extent), []
    lowest, highest = np.full(extent.worlds, NOTHING), np.full(extent.worlds, -NOTHING)
    for group in groups(events, extent, patterns):
        prints = prints_of(group)
        parts.append(distinct_of(group, prints, extent, unit_of(site)))
        steps.add(group, prints)
        low, high = _range(group, extent)
        lowest, highest = np.minimum(lowest, low), np.maximum(highest, high)
    distinct = merged(parts, extent)
    requests = distinct.weights.sum(axis=0)
    taken: Any
    fewest: Any
    if site.space == "shared":
        taken, fewest = shared_request(distinct.addresses, distinct.mask, site.bytes, site.operation)
    else:
        taken, fewest = global_request(distinct.addresses, distinct.mask, site.bytes)
    means = (_means(each, distinct.weights, requests) for each in (taken, fewest, distinct.mask.sum(axis=1)))
    cost, ideal, active = means
    least, most = _ends(taken, distinct.weights, requests)
    if site.space == "shared" and site.operation == "async-copy" and site.bytes == _COPIED:
        least, most, ideal = _copies(events, extent)
        cost = np.where(least == most, least, np.nan)
    is_known = lowest <= highest
    first, end = np.where(is_known, lowest, 0), np.where(is_known, highest + site.bytes, 0)
    of_data = (event for event in events if isinstance(event.offset, Data))
    by_data = sum((executions(each.mask, each.weight, extent, patterns) for each in of_data), np.zeros(extent.worlds))
    return Figures(requests, cost, ideal, least, most, active, by_data, first, end, steps.strides())


def unit_of(site: AccessSite) -> int:
    """Bytes by which all addresses may move without another figure: whole sectors; a bank's word, or as many banks as
    one lane keeps busy, since all banks are equal and the first comes after the last."""
    return max(BANK_BYTES, site.bytes) if site.space == "shared" else SECTOR_BYTES


def _means(values: Any, weights: Weights, total: Weights) -> Weights:
    summed = np.asarray(values, np.float64) @ weights
    found: Weights = np.divide(summed, total, out=np.full(len(total), np.nan), where=total > 0)
    return found


def _ends(values: Any, weights: Weights, total: Weights) -> tuple[Weights, Weights]:
    """The least and the most that one request takes in each world."""
    if not len(weights):
        none = np.full(len(total), np.nan)
        return none, none
    if np.isnan(values).any():
        values = np.zeros(len(weights))
    each = np.where(weights > 0, np.asarray(values, np.float64)[:, None], np.nan)
    is_known = total > 0
    least, most = np.full(len(total), np.nan), np.full(len(total), np.nan)
    least[is_known], most[is_known] = np.nanmin(each[:, is_known], axis=0), np.nanmax(each[:, is_known], axis=0)
    return least, most


def _range(group: Group, extent: Extent) -> tuple[Integers, Integers]:
    """The lowest and the highest offset of an active lane in each world, or in all."""
    mask = group.pattern.mask.reshape(len(group.pattern.mask), -1)
    low = np.where(mask, group.offsets.min(axis=0), NOTHING).min(axis=-1)
    high = np.where(mask, group.offsets.max(axis=0), -NOTHING).max(axis=-1)
    if len(low) > 1:
        by_world = extent.worlds, extent.blocks
        low, high = low.reshape(by_world).min(axis=-1), high.reshape(by_world).max(axis=-1)
    return low, high


# --- asynchronous copies of 16 bytes -------------------------------------------------------------------


_MOST_EVENTS = 64
"""That are looked at; further ones go on like these."""


def _copies(events: Sequence[AccessEvent], extent: Extent) -> Weights:
    """[3, W] the least and the most wavefronts that one request takes in the mean, which is the same where it is known
    what it takes, and its ideal, over the copies whose addresses in shared memory are known: see
    `hardware.banks.async_copies`. NaN where there are none."""
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
    found: Weights = np.divide(totals, requests, out=np.full_like(totals, np.nan), where=requests > 0)
    return found


def _by_warp(values: Any, mask: Any) -> Any:
    return np.broadcast_to(np.asarray(values), mask.shape).reshape(len(mask), -1, WARP_LANES)
