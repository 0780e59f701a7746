"""What one execution may take: steps, time, and memory for its events and for what loops remember."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from cudalint.execute.trace import LeftOut, Stack, Trace
from cudalint.hardware.requests import WARP_LANES
from cudalint.ir import nodes as ir
from cudalint.ir.walk import walk
from cudalint.system.processes.deadline import NEVER, Deadline

if TYPE_CHECKING:
    from cudalint.execute.lanes import Mask

_MOST_EVENTS: Final = 4096
"""Of one site, all of which are kept; of those beyond, one stands for two, then for four, and so on."""
MOST_BRANCHES: Final = 16 * _MOST_EVENTS
_FEWEST_EVENTS: Final = 64
_BYTES_OF_A_SITE: Final = 25 << 20
"""A quarter of what all of a trace may take."""
_BYTES_OF_AN_EVENT: Final = 400
"""Beside its arrays."""
_RECENT: Final = 8
"""Arrays that events have in common with the ones before them are looked for among so many."""
_STEPS_BETWEEN_LOOKS: Final = 64
_LOOKS_AT_THE_CLOCK: Final = 16
"""Of so many looks one: asking the system for the time takes as long as several steps."""
_NODES_OF_A_STEP: Final = 8
"""Of an expression, which take about as long as what is done once for a statement."""
_NUMBERS_OF_A_STEP: Final = 8192
"""In an array, with which numpy is at work for about as long as the interpreter is until it begins."""
_MOST_BYTES_OF_NOTES: Final = 128 << 20


class Limits(NamedTuple):
    """Of one execution."""

    steps: int = 300_000
    """Of work: see `Budget.unit`. One takes 10 to 50 us (measured: of 60 executions of 2,000 steps and more in
    HeCBench, llm.c and SGEMM_CUDA, most take 15 to 45), so that these are some 6 s."""
    deadline: Deadline = NEVER
    bytes: int = 100 << 20
    """Of the trace's arrays, beyond which only few events of each site are kept; at twice as many it ends."""


class TooMuch(Exception):
    """The execution takes more than it may."""


Site = tuple[Any, Stack, object]
"""An access or a branch of the source, as calls lead there, and what distinguishes several accesses of one call."""


def size_of(*parts: ir.Expr | None) -> int:
    """How many steps expressions are that are evaluated once, or the statement that they make up: at least one."""
    nodes = sum(1 for part in parts if part is not None for _ in walk(part))
    return max(1, nodes // _NODES_OF_A_STEP)


class Budget:
    """How much an execution has taken."""

    __slots__ = (
        "_bytes", "_events", "_limits", "_looks", "_notes", "_notes_seen", "_owed", "_recent", "_trace", "next_look",
        "unit",
    )  # fmt: skip

    def __init__(self, trace: Trace, limits: Limits) -> None:
        self._trace, self._limits = trace, limits
        self.unit = 1 + trace.lanes.rows * trace.lanes.lanes // _NUMBERS_OF_A_STEP
        """Steps that a short statement takes, and an event: those of many rows and lanes take more."""
        self.next_look = _STEPS_BETWEEN_LOOKS
        """The step at which time and memory are looked at again."""
        self._looks = 0
        self._bytes = 0
        self._events: dict[Site, int] = {}
        self._owed: dict[Site, Any] = {}
        """Weights of events that were not kept, [R, warps]."""
        self._recent: list[Any] = [None] * _RECENT
        self._notes = self._notes_seen = 0

    def look(self) -> None:
        """Ends the execution if it has taken too long."""
        self.next_look = self._trace.steps + _STEPS_BETWEEN_LOOKS
        if self._trace.steps > self._limits.steps:
            raise TooMuch(f"its body takes more than {self._limits.steps} steps")
        self._looks += 1
        if self._looks % _LOOKS_AT_THE_CLOCK == 1 and self._limits.deadline.is_over():
            raise TooMuch("its body takes too long to execute")

    def has_too_many(self, notes: Sequence[Any]) -> bool:
        """Whether what loops remember takes too much memory."""
        if len(notes) < self._notes_seen:
            self._notes = self._notes_seen = 0
        arrays = {
            id(array): array.nbytes
            for note in notes[self._notes_seen :]
            for array in (note.left, note.right)
            if type(array) is np.ndarray
        }
        self._notes_seen = len(notes)
        self._notes += sum(arrays.values())
        return self._notes > _MOST_BYTES_OF_NOTES

    def take(self, *arrays: Any) -> None:
        """Spends what a new event takes with its arrays."""
        taken = _BYTES_OF_AN_EVENT
        for array in arrays:
            if type(array) is np.ndarray and not any(array is each for each in self._recent):
                taken += array.nbytes
                self._recent.append(array)
                del self._recent[0]
        self._bytes += taken
        if self._bytes > 2 * self._limits.bytes:
            raise TooMuch("what it does takes too much memory")

    def weight_of(self, site: Site, mask: Mask, weight: Any, array: Any, most: int = _MOST_EVENTS) -> Any:
        """The weight of an event with an array of its own, with what those were owed that were not kept since; None if
        it isn't kept itself."""
        number = self._events[site] = self._events.get(site, 0) + 1
        bytes_ = array.nbytes if type(array) is np.ndarray else 0
        most = max(_FEWEST_EVENTS, min(most, _BYTES_OF_A_SITE // (bytes_ + _BYTES_OF_AN_EVENT)))
        if self._bytes > self._limits.bytes:
            most = 1
        if number <= most and site not in self._owed:
            return weight
        lanes = self._trace.lanes
        if site not in self._owed:
            self._trace.left_out.append(LeftOut(site[0], site[1], "too many events", 1))
            self._owed[site] = np.zeros((lanes.rows, lanes.warps))
        active = mask.reshape(mask.shape[0], lanes.warps, WARP_LANES).any(axis=2)
        owed = self._owed[site]
        if number % (1 << (number // most).bit_length()):
            owed += weight * active
            return None
        self._owed[site] = np.where(active, 0.0, owed)
        return weight + owed * active
