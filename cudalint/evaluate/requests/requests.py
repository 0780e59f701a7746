"""From access events to warp-level requests, and from those to figures: sectors, wavefronts, ideals, and their sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from cudalint.evaluate.requests.patterns import Figures, figures_by_pattern, figures_of
from cudalint.evaluate.requests.situations import Situation, mask_of
from cudalint.hardware.banks import SharedOperation, async_copies
from cudalint.hardware.requests import WARP_LANES, count_true
from cudalint.interpreter.device.events import AccessEvent
from cudalint.values.apart import Apart
from cudalint.values.graph import Graph
from cudalint.values.nodes import Node, bits_of
from cudalint.values.numeric import Rows


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


class Counts(Struct, frozen=True, eq=False):
    """What sums over requests are made of; all but `reached` are [R, W], as those of `Requests`."""

    weights: NDArray[np.float64]
    reached: float
    cost: NDArray[np.float64]
    ideal: NDArray[np.float64]
    lanes: NDArray[np.int64]


class Totals(Struct):
    """Sums over the requests of one or more accesses."""

    requests: float = 0.0
    cost: float = 0.0
    ideal: float = 0.0
    lanes: float = 0.0
    reached: float = 0.0
    low: float = float("inf")
    high: float = 0.0

    def add(self, requests: Requests | Counts) -> None:
        weights = requests.weights
        total = float(weights.sum())
        if total == 0:
            return
        self.requests += total
        self.cost += float((weights * requests.cost).sum())
        self.ideal += float((weights * requests.ideal).sum())
        self.lanes += float((weights * requests.lanes).sum())
        self.reached += requests.reached
        counted = requests.cost[weights > 0]
        self.low, self.high = min(self.low, float(counted.min())), max(self.high, float(counted.max()))

    def include(self, other: Totals) -> None:
        """Adds the sums over further requests."""
        self.requests += other.requests
        self.cost += other.cost
        self.ideal += other.ideal
        self.lanes += other.lanes
        self.reached += other.reached
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)


def gather(event: AccessEvent, situation: Situation, conditions: Sequence[Node]) -> Requests:
    """Evaluates one access event under the given (known) conditions."""
    rows = situation.rows(event.context.loops)
    shape = (rows.count, situation.threads.warps, WARP_LANES)
    mask = mask_of(rows, conditions).reshape(shape)
    if not mask.any():
        return _no_requests(mask)
    apart = rows.apart(event.offset)
    addresses = rows.integers(event.offset).reshape(shape)
    is_shared = event.target.space == "shared"
    inside = _inside(event, conditions, addresses, mask, situation.graph) if is_shared else mask
    if event.copied_from is not None and is_wide_copy(event):
        figures = _copied(addresses, rows.full(event.copied_from), inside)
    elif apart is None or inside is not mask:
        figures = _figures(event, addresses, inside)
    else:
        figures = figures_by_pattern(apart, rows.mask_by_warp(conditions), event.bytes, _operation(event))
    weights = rows.weights[:, None] * (figures.lanes > 0)
    reached = _reached(event, situation, rows, conditions)
    return Requests(addresses, inside, weights, reached, figures.cost, figures.ideal)


def count(event: AccessEvent, situation: Situation, conditions: Sequence[Node]) -> Counts | None:
    """What the same comes to without the addresses, where those come apart; None where they don't."""
    rows = situation.rows(event.context.loops)
    masks = rows.mask_by_warp(conditions)
    apart = rows.apart(event.offset)
    if apart is None:
        return None
    if event.target.space == "shared" and (
        is_wide_copy(event) or not _stays_inside(event, conditions, apart, situation.graph)
    ):
        return None
    weights = rows.weights[:, None] * masks.active
    if not weights.any():
        return None
    figures = figures_by_pattern(apart, masks, event.bytes, _operation(event))
    reached = _reached(event, situation, rows, conditions)
    return Counts(weights, reached, figures.cost, figures.ideal, figures.lanes)


def _reached(event: AccessEvent, situation: Situation, rows: Rows, conditions: Sequence[Node]) -> float:
    """The weight of the warps that get to the guard around an access."""
    known = {c.index for c in conditions}
    before = [c for c in event.context.conditions[: event.context.guard] if c.index in known]
    # Lanes that the guard keeps out of loops of its own get to it all the same.
    entered = sum(len(loop.conditions) > event.context.guard for loop in event.context.loops)
    return situation.reached(rows, before, entered)


def _operation(event: AccessEvent) -> SharedOperation | None:
    return event.operation if event.target.space == "shared" else None


def is_wide_copy(event: AccessEvent) -> bool:
    """Whether it is the shared side of an asynchronous copy of 16 bytes, whose cost depends on where it reads."""
    return event.operation == "async-copy" and event.bytes == _WIDE and event.target.space == "shared"


_WIDE = 16


def _copied(addresses: NDArray[np.int64], sources: NDArray[Any], mask: NDArray[np.bool_]) -> Figures:
    """What such copies cost; not a number where that can't be told."""
    found = async_copies(addresses, sources.reshape(addresses.shape).astype(np.int64), mask)
    is_known = found.low == found.high
    cost, ideal = (np.where(is_known, figure, np.nan) for figure in (found.low, found.ideal))
    return Figures(cost, ideal, count_true(mask))


def _figures(event: AccessEvent, addresses: NDArray[np.int64], mask: NDArray[np.bool_]) -> Figures:
    """What requests cost, and the least that they could."""
    if len(mask) > 1 and not addresses.strides[0] and not mask.strides[0]:
        # All rows are one and the same, as they mostly are in shared memory.
        return _figures(event, addresses[:1], mask[:1]).spread(len(mask))
    return figures_of(addresses, mask, event.bytes, _operation(event))


def _no_requests(mask: NDArray[np.bool_]) -> Requests:
    """What is gathered where no lane is active: there is nothing to compute."""
    nothing = np.zeros(mask.shape[:2])
    return Requests(np.zeros(mask.shape, dtype=np.int64), mask, nothing, 0.0, nothing, nothing)


def _stays_inside(event: AccessEvent, conditions: Sequence[Node], addresses: Apart, graph: Graph) -> bool:
    """Whether `_inside` has nothing to leave out, whatever the lanes."""
    size = _room(event, conditions, graph)
    return not size or (addresses.low >= 0 and addresses.high + event.bytes <= size)


def _room(event: AccessEvent, conditions: Sequence[Node], graph: Graph) -> int:
    """The size of the shared array of an access that may leave it because of a made-up size or random data, else 0."""
    bits = event.offset.bits | bits_of(conditions) | bits_of(loop.condition for loop in event.context.loops)
    return event.target.bytes or 0 if bits & (graph.opaque_bits | graph.uniform_bits) else 0


def _inside(
    event: AccessEvent,
    conditions: Sequence[Node],
    addresses: NDArray[np.int64],
    mask: NDArray[np.bool_],
    graph: Graph,
) -> NDArray[np.bool_]:
    """The mask without requests that leave a shared array because of a made-up size or random data: those that a
    program really makes are inside. Where none is, nothing is known, and all stay."""
    size = _room(event, conditions, graph)
    if not size:
        return mask
    outside = ((addresses < 0) | (addresses + event.bytes > size)) & mask
    if not outside.any():
        return mask
    kept = mask & ~outside.any(axis=2, keepdims=True)
    return kept if kept.any() else mask
