"""How far lanes are from one another in terms of the sizes that nothing gives."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from cudalint.execute.trace import AccessEvent
from cudalint.execute.values import Data
from cudalint.measure.distinct import Extent
from cudalint.measure.executed import Executed
from cudalint.measure.requests import AccessSite, Figures

_MOST_FACTOR = 64
"""That is told with a size: `3 * K`."""


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
    found = list(_terms(elements, [own for _, own in known]))
    if len(numbers) == 1:
        return found[0] if len(found) == 1 else None
    return found[0] if found else ""


def _terms(elements: Sequence[int], numbers: Sequence[Mapping[str, int | float | bool]]) -> Iterator[str]:
    """Products of one or two sizes and a small number that are so many elements in each world."""
    names = [
        name for name in numbers[0]
        if all(type(own.get(name)) is int and own[name] not in (0, 1) for own in numbers)
    ]  # fmt: skip
    for count in (1, 2):
        fitting = False
        for chosen in itertools.combinations(names, count):
            products = [int(np.prod([int(own[name]) for name in chosen])) for own in numbers]
            factor, rest = divmod(elements[0], products[0]) if products[0] else (0, 0)
            if rest or not 0 < abs(factor) <= _MOST_FACTOR:
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
