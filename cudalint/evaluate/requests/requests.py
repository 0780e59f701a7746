"""From access events to warp-level requests, and from those to figures: sectors, wavefronts, ideals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cudalint.evaluate.execute.events import AccessEvent
from cudalint.evaluate.requests.situations import Situation, entered, mask_of
from cudalint.evaluate.symbolic.graph import Graph
from cudalint.evaluate.symbolic.nodes import Node
from cudalint.hardware.banks import shared_request
from cudalint.hardware.requests import WARP_LANES, count_true
from cudalint.hardware.sectors import global_request


class Requests(Struct, frozen=True, eq=False):
    """The warp-level requests of one access event in one situation. R rows, W warps."""

    addresses: NDArray[np.int64]
    """[R, W, 32] bytes."""
    mask: NDArray[np.bool_]
    """[R, W, 32]."""
    weights: NDArray[np.float64]
    """[R, W] requests that each one stands for; 0 where no lane is active."""
    reached: float
    """Weight of the warps that get to the guard around the access."""
    cost: NDArray[np.float64]
    """[R, W] sectors or wavefronts."""
    ideal: NDArray[np.float64]

    @property
    def total(self) -> float:
        return float(self.weights.sum())

    @property
    def lanes(self) -> NDArray[np.int64]:
        """[R, W] how many are active."""
        return count_true(self.mask)

    def mean(self, figure: NDArray[Any]) -> float:
        """The weighted mean over all requests; `figure` is [R, W]."""
        return float((self.weights * figure).sum() / self.total)


def gather(event: AccessEvent, situation: Situation, conditions: Sequence[Node]) -> Requests:
    """Evaluates one access event under the given (known) conditions."""
    rows = situation.rows(event.context.loops)
    shape = (rows.count, situation.threads.warps, WARP_LANES)
    mask = mask_of(rows, conditions).reshape(shape)
    if not mask.any():
        return _no_requests(mask)
    addresses = rows.full(event.offset).reshape(shape)
    if addresses.dtype != np.int64:
        addresses = addresses.astype(np.int64)
    mask = _inside(event, conditions, addresses, mask, situation.graph)
    weights = rows.weights[:, None] * mask.any(axis=2)
    known = {c.index for c in conditions}
    before = [c for c in event.context.conditions[: event.context.guard] if c.index in known]
    reached = mask_of(rows, before, entered(event, rows)).reshape(shape).any(axis=2)
    cost, ideal = _figures(event, addresses, mask)
    return Requests(addresses, mask, weights, float((rows.weights[:, None] * reached).sum()), cost, ideal)


def _figures(
    event: AccessEvent, addresses: NDArray[np.int64], mask: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """[R, W] what requests cost, and the least that they could."""
    if len(mask) > 1 and not addresses.strides[0] and not mask.strides[0]:
        # All rows are one and the same, as they mostly are in shared memory.
        cost, ideal = _figures(event, addresses[:1], mask[:1])
        return np.broadcast_to(cost, mask.shape[:2]), np.broadcast_to(ideal, mask.shape[:2])
    if event.target.space == "shared":
        return shared_request(addresses, mask, event.bytes, event.operation)
    sectors, least = global_request(addresses, mask, event.bytes)
    return sectors.astype(np.float64), least.astype(np.float64)


def _no_requests(mask: NDArray[np.bool_]) -> Requests:
    """What is gathered where no lane is active: there is nothing to compute."""
    nothing = np.zeros(mask.shape[:2])
    return Requests(np.zeros(mask.shape, dtype=np.int64), mask, nothing, 0.0, nothing, nothing)


def _inside(
    event: AccessEvent,
    conditions: Sequence[Node],
    addresses: NDArray[np.int64],
    mask: NDArray[np.bool_],
    graph: Graph,
) -> NDArray[np.bool_]:
    """The mask without requests that leave a shared array because of a made-up size or random data: those that a
    program really makes are inside. Where none is, nothing is known, and all stay."""
    size = event.target.bytes
    if event.target.space != "shared" or not size:
        return mask
    bits = event.offset.bits
    for condition in (*conditions, *(loop.condition for loop in event.context.loops)):
        bits |= condition.bits
    if not bits & (graph.opaque_bits | graph.uniform_bits):
        return mask
    outside = ((addresses < 0) | (addresses + event.bytes > size)) & mask
    kept = mask & ~outside.any(axis=2, keepdims=True)
    return kept if kept.any() else mask


