"""What workers may use, and what becomes of their jobs."""

from __future__ import annotations

import math
import os
import signal
from typing import Generic, TypeVar

from msgspec import Struct

COUNTS_WORK = hasattr(signal, "setitimer")
"""Whether the system ends a process that has computed for so long."""
SHOWS_WORK = os.path.exists("/proc/self/stat")
"""Whether the system shows whether another process waits, and how much it has computed."""
_PATIENCE = 5.0 if COUNTS_WORK else 1.0
"""How many times as long as it may compute a job may take that waits."""

Result = TypeVar("Result")


class Limits(Struct, frozen=True):
    """What workers may use."""

    workers: int
    seconds: float
    """The time that one job may compute; a worker that takes longer is killed. Where the system can, the worker's own
    clock counts alone, and not how long it waits for a core: a busy machine gives no more jobs up than an idle one.
    Elsewhere a job ends after `_PATIENCE` times as long on the clock on the wall."""
    idle_seconds: float | None = None
    """The time that a job may sleep, computing nothing, for a pipe without a writer or the like. None: `_PATIENCE`
    times as long as it may compute."""
    wall_seconds: float | None = None
    """The time that a job may take on the clock on the wall, for one that waits for a GPU. None: as long as it computes
    or waits for a core."""
    jobs_per_worker: int = 200
    megabytes: int = 320
    """A worker whose memory has once grown over this is replaced before its next job."""
    most_megabytes: int | None = None
    """What a worker may hold at most, where the system can see to that: the system gives it no more, and what asks for
    more fails."""

    @property
    def longest_wait(self) -> float:
        """The time that a job may take, on the clock on the wall, where that is all that there is."""
        if self.wall_seconds is not None:
            return self.wall_seconds
        return math.inf if COUNTS_WORK and SHOWS_WORK else _PATIENCE * self.seconds

    @property
    def longest_sleep(self) -> float:
        return _PATIENCE * self.seconds if self.idle_seconds is None else self.idle_seconds


class Done(Struct, Generic[Result], frozen=True):
    index: int
    value: Result


class Lost(Struct, frozen=True):
    """A job that came to no result, and why, in words for the user."""

    index: int
    reason: str


def given_up(limits: Limits) -> str:
    of_what = " of computing" if limits.wall_seconds is None else ""
    return f"given up after {limits.seconds:g} s{of_what}; --time-limit gives more time"
