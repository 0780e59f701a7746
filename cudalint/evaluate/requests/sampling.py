"""Samples of the requests of an access, from which patterns are read and remedies tried."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cudalint.evaluate.requests.dependence import dependence
from cudalint.evaluate.requests.views import Known, LaunchView
from cudalint.facts import Sample, Strides
from cudalint.facts.accesses import Flags, Integers, Weights
from cudalint.values.nodes import BLOCK_BITS
from cudalint.values.polynomial import Monomial, is_in_the_source, linear, spelled_sum, terms_of

_MAX_SAMPLE = 64
_LEAST = 1e-300
"""In place of nothing, to divide by."""


def offset_range(reached: Sequence[Known]) -> tuple[int, int] | None:
    low, high = None, None
    for known in reached:
        touched = known.quick.addresses[known.quick.mask]
        if touched.size:
            first, last = int(touched.min()), int(touched.max()) + known.event.bytes
            low = first if low is None else min(low, first)
            high = last if high is None else max(high, last)
    return None if low is None or high is None else (low, high)


def strides(known: Known, view: LaunchView) -> Strides:
    """How far the address moves along each thread index, where that is the same everywhere."""
    dx, dy, dz = view.block
    reached = known.quick.weights.any(axis=1)
    addresses = known.quick.addresses[reached].reshape(int(reached.sum()), -1)[:, : dx * dy * dz]
    cube = addresses.reshape(-1, dz, dy, dx)
    x, y, z = (_constant_step(cube, axis) for axis in (3, 2, 1))
    return Strides(x, y, z, _in_terms_of_sizes(known, view), _turn(known))


def _turn(known: Known) -> int | None:
    """See `Strides.turn`."""
    event = known.event
    loops = reversed(event.context.loops)
    counter = next((loop.counter for loop in loops if loop.counter.bits & event.offset.bits), None)
    if counter is None:
        return None
    factors = dict(linear(event.offset)[0])
    is_straight = not any(node.bits & counter.bits for node in factors if node is not counter)
    return factors.get(counter) if is_straight else None


def _in_terms_of_sizes(known: Known, view: LaunchView) -> str | None:
    """See `Strides.sized`."""
    graph, requests, event = view.graph, known.quick, known.event
    if not event.offset.bits & graph.uniform_bits:
        return None
    both = requests.mask[..., 1:] & requests.mask[..., :-1] & (requests.weights > 0)[..., None]
    steps = np.diff(requests.addresses, axis=2)
    moved, times = np.unique(steps[both], return_counts=True)
    if not len(moved):
        return None
    row, warp, lane = np.argwhere(both & (steps == moved[times.argmax()]))[0]
    rows = known.situation.rows(event.context.loops)
    parts: dict[Monomial, int] = {}
    for monomial, coefficient in terms_of(graph, event.offset).items():
        factors = rows.full(coefficient).reshape(requests.mask.shape)[row, warp]
        step = int(factors[lane + 1]) - int(factors[lane])
        if step:
            parts[monomial] = step
    if not any(parts):
        return None
    if not all(map(is_in_the_source, parts)) or any(step % event.bytes for step in parts.values()):
        return ""
    return spelled_sum({monomial: step // event.bytes for monomial, step in parts.items()})


def _constant_step(cube: np.ndarray[tuple[int, ...], np.dtype[np.int64]], axis: int) -> int | None:
    if cube.shape[axis] < 2:
        return None
    steps = np.diff(cube, axis=axis)
    first = steps.flat[0]
    return int(first) if (steps == first).all() else None


def sample(reached: Sequence[Known]) -> Sample:
    """Requests of all executions of an access, equally many of each. Most are neighbours, warps of a block and
    iterations that follow one another; the others have active lanes that none of these has, as at the edge of a grid.
    Each weighs as much as the requests with its active lanes that it stands for."""
    share = max(1, _MAX_SAMPLE // len(reached))
    parts = [_sample_of(known, share) for known in reached[:_MAX_SAMPLE]]
    dimensions = {len(part.subscripts) for part in parts}
    count = dimensions.pop() if len(dimensions) == 1 else 0
    return Sample(
        np.concatenate([part.addresses for part in parts]),
        np.concatenate([part.mask for part in parts]),
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.warps for part in parts]),
        tuple(np.concatenate([part.subscripts[d] for part in parts]) for d in range(count)),
        np.concatenate([part.inner_offset for part in parts]),
    )


def _sample_of(known: Known, share: int) -> Sample:
    requests = known.quick
    rows = known.situation.rows(known.event.context.loops)
    counted = every = requests.weights > 0
    lanes, totals = _by_lanes(requests.mask[every], requests.weights[every])
    if counted.any() and not dependence(known.event.context, known.event.offset, rows.graph).bits & BLOCK_BITS:
        # All blocks make the same requests.
        first = rows.blocks[np.argmax(counted.any(axis=1))]
        counted = counted & (rows.blocks == first).all(axis=1)[:, None]
    row, warp = np.nonzero(counted)
    kinds = np.searchsorted(lanes, _as_bits(requests.mask[row, warp]))
    taken = _neighbours_and_others(kinds, totals, share)
    row, warp, kinds = row[taken], warp[taken], kinds[taken]
    weights = requests.weights[row, warp]
    spelled = known.event.subscripts
    indices = spelled.indices if spelled is not None else ()
    shape = requests.addresses.shape
    return Sample(
        requests.addresses[row, warp],
        requests.mask[row, warp],
        weights * (totals / np.maximum(np.bincount(kinds, weights, len(totals)), _LEAST))[kinds],
        warp.astype(np.int64),
        tuple(rows.integers(index).reshape(shape)[row, warp] for index in indices),
        np.full((len(row), 1), spelled.inner if spelled is not None else 0, dtype=np.int64),
    )


def _by_lanes(mask: Flags, weights: Weights) -> tuple[Integers, Weights]:
    """The sets of active lanes that occur, and how often each of them does."""
    lanes, kinds = np.unique(_as_bits(mask), return_inverse=True)
    return lanes, np.bincount(kinds, weights, len(lanes)).astype(np.float64)


def _as_bits(mask: Flags) -> Integers:
    return mask.astype(np.int64) @ (1 << np.arange(mask.shape[-1], dtype=np.int64))


def _neighbours_and_others(kinds: Integers, totals: Weights, share: int) -> Integers:
    """Of so many requests with sets of active lanes the first ones, of which some make room for one of each other set,
    those that occur most often."""
    first_of_each = np.unique(kinds, return_index=True)[1]
    others = first_of_each[first_of_each >= share]
    often = others[np.argsort(-totals[kinds[others]], kind="stable")][: share // 2]
    return np.concatenate([np.arange(min(share - len(often), len(kinds))), np.sort(often)])
