"""What threads store, distinguished by where it comes from: two threads store one value if they compute it in one place
of the code, at one turn of all loops, from the same numbers and from what the same addresses hold.

Values themselves are not needed: what goes into an expression is known from the tree (`origins.py`), and of each part
of it what a lane has. All of that is mixed into one number for each lane; equal ones are equal values.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudalint.execute.butterflies import among
from cudalint.execute.memory import Allocation
from cudalint.execute.trace import AccessEvent, Stack
from cudalint.execute.values import Aggregate, Data
from cudalint.measure.places import spans_of
from cudalint.measure.seen import Seen
from cudalint.measure.touches import Site, bits_of

Codes = NDArray[np.uint64]

_MOST_ACCESSES = 1 << 24
"""Of single threads that are looked at, about a second's work; what comes after that is not known."""


class Stored:
    """The values that an execution stores."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self._lanes = seen.trace.lanes
        self._shape = self._lanes.full.shape
        self._left = _MOST_ACCESSES
        self._loads: dict[tuple[int, Stack], list[tuple[int, AccessEvent]]] = {}
        self._writes: dict[Allocation, list[tuple[int, AccessEvent]]] = {}
        self._contents: dict[tuple[Allocation, int], Codes | None] = {}
        self._so_far: dict[tuple[int, Stack], tuple[int, Codes | None]] = {}
        """What lanes have found at a node, in so many of its events."""
        for number, event in enumerate(seen.trace.accesses):
            if event.operation == "load":
                self._loads.setdefault((id(event.node), event.stack), []).append((number, event))
            else:
                self._writes.setdefault(event.allocation, []).append((number, event))
        self._touched = {event.allocation for _, event in seen.trace.touched}

    def codes(self, number: int, event: AccessEvent) -> Codes | None:
        """[R, L] of what an event of the trace stores; None where nobody knows."""
        self._left -= self._lanes.rows * self._lanes.lanes
        if self._left < 0:
            return None
        if not isinstance(event.value, (Aggregate, Data)):
            return self._mixed(0, bits_of(event))
        found = self._seen.value_of(Site(event.node, event.operation, event.bytes, event.stack))
        if found is None or found.is_unread or found.atomics:
            return None
        code = np.full((1, 1), hash((id(event.node), number)) & _ALL, np.uint64)
        for name in sorted(found.itself):
            code = _mix(code, self._built_in(name))
        for node, stack in sorted(found.loads, key=lambda each: spans_of(*each)):
            loaded = self._loaded(node, stack, number)
            if loaded is None:
                return None
            code = _mix(code, loaded)
        return self._together(code, among(event.value)) if isinstance(event.value, Data) else code

    def _together(self, found: Any, distances: int) -> Codes:
        """The codes of lanes that have one value for certain, at some distances in a warp, as one."""
        code: Codes = np.broadcast_to(found, self._shape)
        lane = np.arange(self._lanes.lanes)
        for bit in (1, 2, 4, 8, 16):
            if distances & bit:
                code = code + code[:, lane ^ bit]
        return code

    def _mixed(self, code: Any, values: Any) -> Codes | None:
        return _mix(np.full((1, 1), code, np.uint64), values) if values is not None else None

    def _built_in(self, name: str) -> Any:
        base, _, axis = name.partition(".")
        if not axis:
            return np.arange(self._lanes.lanes, dtype=np.int64)[None]
        return self._lanes.built_in[base]["xyz".index(axis)]

    def _loaded(self, node: Any, stack: Stack, before: int) -> Codes | None:
        """What the lanes have found at a node so far, by the addresses."""
        key = id(node), stack
        events = self._loads.get(key, [])
        count = bisect_left(events, before, key=itemgetter(0))
        if not count:
            return None
        known, code = self._so_far.get(key, (0, None))
        if not 0 < known <= count:
            known, code = 0, np.zeros(self._shape, np.uint64)
        for number, event in events[known:count]:
            if code is not None:
                code = self._after(code, number, event)
        self._so_far[key] = count, code
        return code

    def _after(self, code: Codes, number: int, event: AccessEvent) -> Codes | None:
        """With what an event loads in its lanes."""
        self._left -= self._lanes.rows * self._lanes.lanes
        content = self._content(event.allocation, number)
        if content is None or self._left < 0:
            return None
        own = _mix(code, content)
        # A place that data says is the same where that data is, which goes into the value as well.
        own = _mix(own, event.offset) if not isinstance(event.offset, Data) else own
        return np.where(event.mask, own, code)

    def _content(self, allocation: Allocation, before: int) -> Codes | None:
        """[R, 1] of what the blocks have in an allocation then."""
        writes = self._writes.get(allocation, ())
        if allocation in self._touched or (writes and allocation.space != "shared"):
            return None
        own = [(number, event) for number, event in writes if number < before]
        key = allocation, len(own)
        if key not in self._contents:
            self._contents[key] = None
            self._contents[key] = self._made(allocation, own)
        return self._contents[key]

    def _made(self, allocation: Allocation, writes: Iterable[tuple[int, AccessEvent]]) -> Codes | None:
        content = np.full((self._lanes.rows, 1), id(allocation) & _ALL, np.uint64)
        for number, event in writes:
            values = self.codes(number, event) if event.operation == "store" and event.data == 0 else None
            if values is None or isinstance(event.offset, Data):
                return None
            own = np.where(event.mask, _mix(_mix(values, event.offset), np.arange(self._lanes.lanes)[None]), 0)
            content = _mix(content, own.sum(axis=1, dtype=np.uint64, keepdims=True))
        return content


_ALL = (1 << 64) - 1


def _mix(code: Any, value: Any) -> Any:
    """The two as one number, by a step of splitmix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    if not isinstance(value, np.ndarray):
        value = np.array([[int(value) & _ALL]], np.uint64)
    x = (code ^ value.astype(np.int64).view(np.uint64)) if value.dtype != np.uint64 else code ^ value
    with np.errstate(over="ignore"):
        x = (x + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
        return (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
