"""Dynamic shared memory that is carved up: pointers that lead to different places of it begin arrays of their own.

    extern __shared__ unsigned buffer[];
    unsigned *counts = buffer, *digits = buffer + buckets;
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cudalint.execute.drawn import Drawn
from cudalint.execute.values import Data
from cudalint.heuristics import heuristic
from cudalint.ir import nodes as ir
from cudalint.ir.walk import without_casts
from cudalint.measure.races import Race, RaceEnd
from cudalint.measure.seen import Seen


@heuristic("carved-arrays", "histograms beside other arrays in dynamic shared memory").otherwise(False)
def leads_into_another(race: Race, seen: Seen) -> bool:
    """Whether data chooses an element of one of such arrays, and the other access is of another one: whatever data may
    be, it is taken to lead into its own."""
    symbol = race.allocation.symbol
    if symbol is None or symbol.storage != "dynamic-shared":
        return False
    by_data = [end for end in (race.first, race.second) if isinstance(end.event.offset, Data)]
    if len(by_data) != 1:
        return False
    own = by_data[0]
    other = race.second if own is race.first else race.first
    pointers = _pointer_of(own.site.node), _pointer_of(other.site.node)
    if not all(map(_begins_an_array, pointers, (own, other), (seen, seen))):
        return False
    start = _start_of(own, seen)
    if pointers[0].symbol is pointers[1].symbol or start is None:
        return False
    low, high = _range_of(other, race, seen)
    return low > start or high <= start


@heuristic("carved-neighbours", "arrays in dynamic shared memory that sizes keep apart").otherwise(False)
def meet_in_another(race: Race, seen: Seen) -> bool:
    """Whether two such arrays meet: where some sizes keep them apart, those with which one has no room are none that
    the kernel is launched with."""
    symbol = race.allocation.symbol
    if symbol is None or symbol.storage != "dynamic-shared":
        return False
    ends = race.first, race.second
    pointers = [_pointer_of(end.site.node) for end in ends]
    if not all(map(_begins_an_array, pointers, ends, (seen, seen))):
        return False
    return pointers[0].symbol is not pointers[1].symbol


def _begins_an_array(pointer: Any, end: RaceEnd, seen: Seen) -> bool:
    """Whether it is a variable that leads all threads to one place."""
    return isinstance(pointer, ir.Name) and not seen.origins.of(pointer, end.site.stack).by_thread


def _pointer_of(node: Any) -> Any:
    """What an access takes an element of."""
    node = without_casts(node)
    match node:
        case ir.Call(arguments=(place, *_)):
            return _pointer_of(place)
        case ir.Unary(op="&" | "*"):
            return _pointer_of(node.operand)
        case ir.Index():
            return _pointer_of(node.base)
        case ir.Binary(op="+" | "-"):
            return _pointer_of(node.left)
        case _:
            return node


def _start_of(end: RaceEnd, seen: Seen) -> int | None:
    """The byte at which an access would be if all data were zero."""
    offset = end.event.offset
    if type(offset) is not Drawn:
        return None
    start = np.unique(np.asarray(offset.without_data(seen.trace.lanes)))
    return int(start[0]) if len(start) == 1 else None


def _range_of(end: RaceEnd, race: Race, seen: Seen) -> tuple[int, int]:
    """The bytes that an access touches: the first one, and the one behind the last."""
    low, high = [], []
    for event in seen.events.get(end.site, ()):
        if event.allocation is race.allocation and not isinstance(event.offset, Data) and event.mask.any():
            offsets = np.broadcast_to(event.offset, event.mask.shape)[event.mask]
            low.append(int(offsets.min()))
            high.append(int(offsets.max()) + event.bytes)
    return min(low, default=0), max(high, default=0)
