"""When to stop: a file has its time by the clock on the wall, one kernel of it a share of that by the processor's, so
that a busy machine does not change what is found."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Deadline:
    monotonic: float = math.inf
    """On the monotonic clock."""
    processor: float = math.inf
    """In seconds of this process."""

    def is_over(self) -> bool:
        return time.process_time() > self.processor or time.monotonic() > self.monotonic

    def within(self, seconds: float) -> Deadline:
        """The same, and no later than after so many seconds of work."""
        return Deadline(self.monotonic, min(self.processor, time.process_time() + seconds))


NEVER = Deadline()

__all__ = ["NEVER", "Deadline"]
