"""The plain way to figures of requests: one world after the other, all requests spelled out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from cudalint.execute.lanes import Lanes
from cudalint.execute.trace import AccessEvent, Trace
from cudalint.execute.values import Data
from cudalint.hardware.banks import shared_request
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import global_request
from cudalint.measure.requests import AccessSite, site_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Addresses = NDArray[np.int64]
    Flags = NDArray[np.bool_]
    Weights = NDArray[np.float64]
else:
    Addresses = Flags = Weights = Any


class Requests(Struct, frozen=True, eq=False):
    """The requests of one site in one world: n requests of 32 lanes, each with at least one that is active."""

    addresses: Addresses
    """[n, 32] bytes from the start of the allocation."""
    mask: Flags
    """[n, 32] active lanes."""
    weights: Weights
    """[n] executions that each stands for."""
    by_data: float = 0.0
    """Executions whose addresses are data."""


class PlainFigures(Struct, frozen=True):
    """What one request takes in the mean."""

    requests: float
    cost: float
    """Sectors of global memory, wavefronts of shared memory."""
    ideal: float
    lanes: float
    """That are active."""


def requests_of(trace: Trace, world: int = 0) -> dict[AccessSite, Requests]:
    """The requests that each site makes in a world."""
    by_site: dict[AccessSite, list[AccessEvent]] = {}
    for event in trace.accesses:
        by_site.setdefault(site_of(event), []).append(event)
    lanes = trace.lanes
    rows = slice(world * lanes.blocks, (world + 1) * lanes.blocks)
    found = ((site, _gathered(events, lanes, rows)) for site, events in by_site.items())
    return {site: requests for site, requests in found if len(requests.weights) or requests.by_data}


def _gathered(events: Iterable[AccessEvent], lanes: Lanes, rows: slice) -> Requests:
    addresses: list[Addresses] = []
    masks: list[Flags] = []
    weights: list[Weights] = []
    by_data = 0.0
    for event in events:
        mask = event.mask[rows].reshape(-1, WARP_LANES)
        weight = _by_warp(event.weight, lanes, rows)
        active = mask.any(axis=1)
        if isinstance(event.offset, Data):
            by_data += float(weight[active].sum())
            continue
        wide = np.broadcast_to(np.asarray(event.offset, np.int64), (lanes.rows, lanes.lanes))
        addresses.append(wide[rows].reshape(-1, WARP_LANES)[active])
        masks.append(mask[active])
        weights.append(weight[active])
    if not weights:
        empty = np.zeros((0, WARP_LANES), np.int64)
        return Requests(empty, empty.astype(bool), np.zeros(0), by_data)
    return Requests(np.concatenate(addresses), np.concatenate(masks), np.concatenate(weights), by_data)


def _by_warp(weight: Any, lanes: Lanes, rows: slice) -> Weights:
    found: Weights = np.broadcast_to(np.asarray(weight, np.float64), (lanes.rows, lanes.warps))[rows].reshape(-1)
    return found


def plain_figures(site: AccessSite, requests: Requests) -> PlainFigures | None:
    """The means over all requests whose addresses are known; None without any."""
    total = float(requests.weights.sum())
    if not total:
        return None
    cost, ideal = _costs(site, requests)
    means = [float((each * requests.weights).sum()) / total for each in (cost, ideal, requests.mask.sum(axis=1))]
    return PlainFigures(total, *means)


def _costs(site: AccessSite, requests: Requests) -> Sequence[Any]:
    if site.space == "shared":
        return shared_request(requests.addresses, requests.mask, site.bytes, site.operation)
    return global_request(requests.addresses, requests.mask, site.bytes)
