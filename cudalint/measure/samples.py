"""Requests of an access to show, and to try remedies on; and its strides in terms of the sizes that nothing gives."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from cudalint.execute.trace import AccessEvent, Trace
from cudalint.execute.values import Data
from cudalint.facts import Sample
from cudalint.hardware.requests import WARP_LANES
from cudalint.measure.arrays import Flags, Integers, Weights
from cudalint.measure.distinct import Extent, Group, Pattern, by_world, groups, prints_of, weights_by_row
from cudalint.measure.executed import Executed
from cudalint.measure.numbers import parameters_of
from cudalint.measure.requests import AccessSite, Figures

_MOST = 32


class _Requests(NamedTuple):
    """Of one world, [n] each."""

    keys: Integers
    """Equal for those that take as much."""
    numbers: Integers
    """Of the executions."""
    rows: Integers
    warps: Integers
    weights: Weights | Any


def sample(
    events: Sequence[AccessEvent], trace: Trace, world: int, unit: int, most: int = _MOST
) -> Sample | None:
    """Requests of one world; None where no address is known. The first ones are neighbours, warps of a block and turns
    that follow one another, so that those of accesses beside each other are of the same threads; behind them are
    others, of each kind that is not among them, those that stand for most first. `unit` as for `distinct_of`."""
    extent = Extent.of(trace.lanes)
    alone = extent._replace(worlds=1)
    rows = slice(world * extent.blocks, (world + 1) * extent.blocks)
    masks: dict[int, Flags] = {}
    own = [_in_rows(event, rows, extent, masks) for event in events if not isinstance(event.offset, Data)]
    patterns: dict[int, Pattern] = {}
    parts = [_requests(group, alone, unit) for group in groups(own, alone, patterns)]
    if not parts:
        return None
    found = _Requests(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    order = np.lexsort((found.warps, found.numbers, found.rows))
    order = order[found.weights[order] > 0]
    if not len(order):
        return None
    _, kinds = np.unique(found.keys, return_inverse=True)
    kinds = kinds.reshape(-1)
    totals = np.bincount(kinds, found.weights)
    beside = order[found.rows[order] == found.rows[order[0]]]
    shown = beside[:most]
    kind, first = np.unique(kinds[order], return_index=True)
    is_new = ~np.isin(kind, kinds[shown])
    often = np.lexsort((first[is_new], -totals[kind[is_new]]))[:most]
    shown = np.concatenate([shown, order[first[is_new][often]]])
    weights = totals[kinds[shown]] / np.bincount(kinds[shown], minlength=len(totals))[kinds[shown]]
    places = [(own[found.numbers[at]], int(found.rows[at]), int(found.warps[at])) for at in shown]
    addresses = np.stack([_lanes_of(event.offset, row, warp) for event, row, warp in places])
    mask: Flags = np.stack([_lanes_of(event.mask, row, warp) for event, row, warp in places])
    subscripts, inner = _subscripts(places)
    return Sample(addresses, mask, weights, found.warps[shown].astype(np.int64), subscripts, inner)


def _in_rows(event: AccessEvent, rows: slice, extent: Extent, masks: dict[int, Flags]) -> AccessEvent:
    """What one world has of an event. `masks` keeps the parts of masks, so that events of one mask have one again."""
    offset, weight = event.offset, event.weight
    if type(offset) is np.ndarray and len(offset) > 1:
        offset = offset[rows]
    if type(weight) is np.ndarray:
        weight = weights_by_row(weight, extent)[rows]
    subscripts = tuple(
        index[rows] if type(index) is np.ndarray and len(index) > 1 else index for index in event.subscripts
    )
    mask = masks.setdefault(id(event.mask), event.mask[rows])
    return event._replace(offset=offset, mask=mask, weight=weight, subscripts=subscripts)


def _requests(group: Group, extent: Extent, unit: int) -> _Requests:
    """The requests of a group with an active lane."""
    prints = prints_of(group)
    keys = prints.shapes + (prints.firsts & (unit - 1)) * group.pattern.sums
    active = np.flatnonzero(np.broadcast_to(group.pattern.active, keys.shape))
    number, row, warp = np.unravel_index(active, keys.shape)
    weights = np.broadcast_to(by_world(group, keys.shape[1], extent), keys.shape).reshape(-1)[active]
    return _Requests(keys.reshape(-1)[active], np.array(group.numbers)[number], row, warp, weights)


def _lanes_of(values: Any, row: int, warp: int) -> Any:
    """[32] of plain numbers, of what all lanes or all rows have in common, or of an array by rows and lanes."""
    if type(values) is not np.ndarray:
        return np.full(WARP_LANES, values)
    own = values[row if len(values) > 1 else 0]
    return np.repeat(own, WARP_LANES) if len(own) == 1 else own[warp * WARP_LANES : (warp + 1) * WARP_LANES]


def _subscripts(places: Sequence[tuple[AccessEvent, int, int]]) -> tuple[tuple[Integers, ...], Any]:
    """See `Sample`; none where an execution has another number of them, or one that is data."""
    counts = {len(event.subscripts) for event, _, _ in places}
    if len(counts) > 1 or any(isinstance(index, Data) for event, _, _ in places for index in event.subscripts):
        return (), 0
    found = tuple(
        np.stack([_lanes_of(event.subscripts[axis], row, warp) for event, row, warp in places]).astype(np.int64)
        for axis in range(counts.pop())
    )
    return found, np.array([[event.inner] for event, _, _ in places], np.int64)


# --- strides in terms of the sizes that nothing gives --------------------------------------------------


_MOST_FACTOR = 64
"""The largest factor of a size in a stride: `3 * K`."""


def sized(site: AccessSite, figures: Figures, events: Sequence[AccessEvent], executed: Executed) -> str | None:
    """How far most lanes are from the one before: see `facts.Strides.sized`."""
    numbers = executed.batch.numbers
    if not numbers[0]:
        return None
    steps = [
        _step(figures, events, executed, world) if figures.requests[world] else None for world in range(len(numbers))
    ]
    known = [(step, own) for step, own in zip(steps, numbers, strict=True) if step is not None]
    if not known:
        return None
    is_open = len({step for step, _ in known}) > 1
    if len(numbers) > 1 and not is_open:
        return None
    if any(step % site.bytes for step, _ in known):
        return "" if is_open else None
    elements = [step // site.bytes for step, _ in known]
    if len(numbers) == 1:
        # Sizes that users give are no open numbers.
        given = {name: values[0] for name, values in parameters_of(executed.batch).items()}
        found = list(_terms(elements, [{**known[0][1], **given}]))
        return found[0] if len(found) == 1 else None
    found = list(_terms(elements, [own for _, own in known]))
    return found[0] if found else ""


def _terms(elements: Sequence[int], numbers: Sequence[Mapping[str, int | float | bool]]) -> Iterator[str]:
    """Products of one or two sizes and a small number that are so many elements in each world; sizes by themselves,
    where there are some: what is a multiple of another may be so by chance."""
    names = [
        name for name in numbers[0]
        if all(type(own.get(name)) is int and own[name] not in (0, 1) for own in numbers)
    ]  # fmt: skip
    for count, most in ((1, 1), (1, _MOST_FACTOR), (2, _MOST_FACTOR)):
        fitting = False
        for chosen in itertools.combinations(names, count):
            products = [int(np.prod([int(own[name]) for name in chosen])) for own in numbers]
            factor, rest = divmod(elements[0], products[0]) if products[0] else (0, 0)
            if rest or not 0 < abs(factor) <= most:
                continue
            if all(element == factor * product for element, product in zip(elements, products, strict=True)):
                fitting = True
                text = " * ".join(chosen)
                yield text if factor == 1 else f"-{text}" if factor == -1 else f"{factor} * {text}"
        if fitting:
            return


def _step(figures: Figures, events: Sequence[AccessEvent], executed: Executed, world: int) -> int | None:
    """By how many bytes most lanes are further than the one before."""
    constant = figures.strides.x[world]
    if constant is not None:
        return constant
    extent = Extent.of(executed.trace.lanes)
    rows = slice(world * extent.blocks, (world + 1) * extent.blocks)
    for event in events:
        offset = event.offset
        if isinstance(offset, Data) or type(offset) is not np.ndarray or offset.shape[-1] == 1:
            continue
        mask = event.mask[rows]
        both = mask[:, 1:] & mask[:, :-1]
        if both.any():
            own = offset[rows] if len(offset) > 1 else offset
            steps = np.broadcast_to(np.diff(own, axis=1), both.shape)[both]
            moved, times = np.unique(steps, return_counts=True)
            return int(moved[times.argmax()])
    return None
