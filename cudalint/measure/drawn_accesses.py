"""Accesses at addresses that loaded data goes into: executed with numbers drawn for it, and what that shows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import Any

import numpy as np

from cudalint.execute.drawn import Drawn, Known
from cudalint.execute.lanes import Lanes
from cudalint.execute.trace import AccessEvent
from cudalint.execute.values import Data, is_common
from cudalint.facts import AccessResult

_BY_DATA = "the address depends on loaded data"
_MOST_NAMES = 3
"""Arrays that are named."""
_MOST_DRAWN = 32
"""Executions one after the other that numbers are drawn for, and as many from all others."""
_FEWEST_DRAWS = 64
"""For all executions of an access, for the mean to be one."""
_TABLE_ENTRIES = 1 << 16
"""As many as an integer of two bytes can number."""
_LEAST_CODE = 2


class DrawnAccess:
    """The executions of one access."""

    def __init__(self, events: Sequence[AccessEvent], lanes: Lanes) -> None:
        self.events, self._lanes = events, lanes
        self.offsets = [event.offset for event in events if type(event.offset) is Drawn]
        self.is_scattered = False
        """Whether lanes of a warp go to different places by what is drawn."""
        self.with_numbers = self._with_numbers() if self.offsets else events

    def _with_numbers(self) -> Sequence[AccessEvent]:
        found = []
        some = list(self._some())
        draws = max(1, _FEWEST_DRAWS // len(some))
        for draw in range(draws):
            known: Known = {}
            for event in some:
                if type(event.offset) is Drawn:
                    numbers, differs = event.offset.numbers(self._lanes, known, draw)
                    self.is_scattered |= differs
                    event = event._replace(offset=numbers)
                found.append(event if draws == 1 else event._replace(weight=event.weight / draws))
        return found

    def _some(self) -> Iterator[AccessEvent]:
        """The first executions, and some of the others for all of those: what is drawn is a sample in any case."""
        rest = len(self.events) - _MOST_DRAWN
        if rest <= _MOST_DRAWN:
            yield from self.events
            return
        yield from self.events[:_MOST_DRAWN]
        for number in range(_MOST_DRAWN):
            event = self.events[_MOST_DRAWN + number * rest // _MOST_DRAWN]
            yield event._replace(weight=event.weight * (rest / _MOST_DRAWN))

    def without_data(self) -> list[AccessEvent]:
        """Executions as if all data were zero."""
        known: Known = {}
        return [
            event._replace(offset=event.offset.without_data(self._lanes, known))
            if type(event.offset) is Drawn else event
            for event in self._some()
        ]  # fmt: skip

    @property
    def is_scaled(self) -> bool:
        """Whether what was loaded is multiplied, or divided, on its way into the address."""
        first = self.events[:_MOST_DRAWN]
        return any(type(event.offset) is Drawn and event.offset.is_scaled for event in first)

    def is_from_lists(self, lists: Set[Any], result: AccessResult) -> bool:
        """Whether every lane walks through a list of its own in a loop that data ends (rows of a sparse matrix, edges
        of a node, strings), or goes where such lists say (`x[list[start[i] + k]]`): lists lie as far from one another
        as they are long, and random data shows about what real data costs. Places around a lane's own, as many as data
        says, are no list. `lists` has the loads that walk through some; `result` is that of numbers that were drawn."""
        is_walking = result.reached_by_data and result.strides is not None and result.strides.turn
        if is_walking and all(is_common(each.without_data(self._lanes)) for each in self.offsets[: 2 * _MOST_DRAWN]):
            return True
        origins = [load.origin for each in self.offsets for load in each.loads()]
        return any(origin is not None and origin.node in lists for origin in origins)

    def is_looked_up(self, result: AccessResult) -> bool:
        """Whether something is looked up in a small table by some bits of a word (`table[hash & 255]`): then every
        entry is about as likely, and the mean over uniform data is a figure worth giving. In a table that is read,
        bytes are rather pixels or letters, of which neighbours are alike, unless they are mixed with other data
        (`table[state ^ key]`) or hold codes of a few bits each (`table[code & 15]`). Where some numbers lead before its
        start (`letter - 'a'`) those are never there."""
        if result.offset_range is None or result.sample is None:
            return False
        first, end = result.offset_range
        entry = int(np.gcd.reduce(result.sample.addresses[result.sample.mask] - first, initial=0))
        if first < 0 or end - first > _TABLE_ENTRIES * max(entry, *(event.bytes for event in self.events)):
            return False
        read = [each.offset for each in self.events if type(each.offset) is Drawn and each.operation != "atomic"]
        return all(offset.is_mixed or _are_codes(list(offset.loads())) for offset in read)


def _are_codes(loads: Sequence[Drawn]) -> bool:
    return bool(loads) and all(load.type.bytes >= _LEAST_CODE for load in loads)


def by_which(events: Sequence[AccessEvent]) -> str:
    """That an address is data, and from which arrays that was loaded."""
    loads: list[Data] = []
    for event in events[:_MOST_DRAWN]:
        of = event.offset
        loads += of.loads() if type(of) is Drawn else [of] if isinstance(of, Data) else []
    names = sorted({load.origin.allocation.name for load in loads if load.origin is not None})
    reasons = {load.reason for load in loads}
    if not names and len(reasons) == 1 and reasons != {""}:
        return f"{_BY_DATA}: {reasons.pop()}"
    if not names or len(names) > _MOST_NAMES:
        return _BY_DATA
    return f"{_BY_DATA}: `{'`, `'.join(names)}`"
