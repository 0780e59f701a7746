"""Whether an index wraps around under the sizes that were taken, as blocks far on would make of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from cudalint.ir import nodes as ir
from cudalint.measure.races import Race, RaceEnd
from cudalint.measure.seen import Seen
from cudalint.worlds.intervals import Intervals
from cudalint.worlds.records import Batch, Parameter
from cudalint.worlds.text import text_of

_WIDTHS = {"int": 2.0**31, "uint": 2.0**32}
"""Of types of 4 bytes."""


def is_wrapped(race: Race, seen: Seen, batch: Batch) -> bool:
    """Whether a product that goes into the address of one of the two is too large for its type in its block."""
    ends = [
        (end, product) for end in (race.first, race.second) for product in batch.overflowing
        if seen.goes_into(product, end.site)
    ]  # fmt: skip
    return any(_is_too_large(product, end, race.world, seen, batch) for end, product in ends)


def _is_too_large(product: ir.Binary, end: RaceEnd, world: int, seen: Seen, batch: Batch) -> bool:
    text = text_of(seen.function)
    values = dict(_numbers(batch, world))
    places = [(float(at), float(at)) for at in end.block]
    grid = [float(extent) for extent in batch.grid[world]]
    intervals = Intervals(text.uses.origins, text.definitions, values, batch.block, grid, places)
    kind = product.type.kind if isinstance(product.type, ir.Scalar) else "int"
    with np.errstate(all="ignore"):
        found = intervals.of(product)
    return found is not None and bool(found[1] >= _WIDTHS.get(kind, _WIDTHS["int"]))


def _numbers(batch: Batch, world: int) -> Iterator[tuple[Parameter, float]]:
    """What the kernel is given in a world."""
    waiting: list[tuple[Parameter, Any]] = [(Parameter(symbol), value) for symbol, value in batch.arguments.items()]
    while waiting:
        parameter, value = waiting.pop()
        if isinstance(value, Mapping):
            own = [(name, each) for name, each in value.items() if isinstance(name, str)]
            waiting += [(Parameter(parameter.symbol, (*parameter.path, name)), each) for name, each in own]
            continue
        if isinstance(value, (list, tuple)):
            value = value[world]
        if isinstance(value, (int, float)):
            yield parameter, float(value)
