"""Where what nobody has written goes: through registers and shared memory of one block, access by access in the order
of the trace, into what the block stores to global memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent, Stack
from cudalint.execute.values import Data
from cudalint.measure.arrays import Mask
from cudalint.measure.seen import Seen
from cudalint.measure.touches import Site

_MOST_UNITS = 228 << 10
"""More bytes than the shared memory of a block has on any GPU (CUDA C++ Programming Guide, "Compute Capabilities")."""


def reaches_global(array: Allocation, row: int, seen: Seen) -> bool:
    """Whether a thread of a row stores to global memory what comes of an element of a shared array before anybody has
    written that. Which loads a value comes of the tree says; where that is not known, of none."""
    events = [event for event in seen.trace.accesses if event.mask[row].any()]
    memories = {event.allocation: event.bytes for event in events if event.allocation.space == "shared"}
    for event in events:
        if event.allocation in memories:
            memories[event.allocation] = min(memories[event.allocation], event.bytes)
    state = {memory: _Elements(memory is array) for memory in memories}
    loaded: dict[tuple[Any, Stack], Mask] = {}
    sources: dict[Site, frozenset[tuple[Any, Stack]]] = {}
    for event in events:
        mask, memory = event.mask[row], event.allocation
        if event.operation == "load":
            if memory in state and not isinstance(event.offset, Data):
                found = np.zeros(mask.shape, bool)
                found[mask] = state[memory].unwritten(units_of(event, row, mask, memories[memory]))
                key = event.node, event.stack
                loaded[key] = np.where(mask, found, loaded[key]) if key in loaded else found
            continue
        site = Site(event.node, event.operation, event.bytes, event.stack)
        if site not in sources:
            value = seen.value_of(site)
            sources[site] = value.loads if value is not None else frozenset()
        comes = np.zeros(mask.shape, bool)
        for source in sources[site]:
            comes |= loaded.get(source, False)
        if memory in state and not isinstance(event.offset, Data):
            state[memory].write(units_of(event, row, mask, memories[memory]), comes[mask])
        elif memory.space == "global" and (comes & mask).any():
            return True
    return False


class _Elements:
    """Of a shared array in one block: which of them have what nobody has written."""

    def __init__(self, is_empty: bool) -> None:
        self._known = np.full(_MOST_UNITS, is_empty)

    def unwritten(self, units: Any) -> Any:
        """[n] whether accesses find such, each in a few units; not where they leave what a block may have."""
        is_inside = (units >= 0) & (units < _MOST_UNITS)
        return (self._known[np.where(is_inside, units, 0)] & is_inside).any(axis=1)

    def write(self, units: Any, comes: Any) -> None:
        is_inside = (units >= 0) & (units < _MOST_UNITS)
        self._known[units[is_inside]] = np.broadcast_to(comes[:, None], units.shape)[is_inside]


def units_of(event: AccessEvent, row: int, mask: Mask, unit: int) -> Any:
    """[n, units of an access] what the lanes of a mask touch."""
    offset = np.atleast_2d(np.asarray(event.offset, np.int64))
    own = np.broadcast_to(offset[row if len(offset) > 1 else 0], mask.shape)
    return own[mask][:, None] // unit + np.arange(max(1, event.bytes // unit))
