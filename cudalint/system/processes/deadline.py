"""When to stop, by the processor's clock: a busy machine does not change what is found. What waits and computes nothing
is ended from outside (cudalint.run.pool)."""

from __future__ import annotations

import math
import time

from msgspec import Struct

from cudalint.system.disk import recorder as disk


class Pause(Struct, eq=False):
    """Work that does not count, so that all deadlines that share it are later by that."""

    seconds: float = 0.0


class Deadline(Struct, frozen=True):
    processor: float = math.inf
    """In seconds of this process."""
    pause: Pause | None = None

    def is_over(self) -> bool:
        is_over = self.processor < math.inf and self._now() > self.processor
        if is_over:
            disk.note_clock()
        return is_over

    def within(self, seconds: float) -> Deadline:
        """The same, and no later than after so many seconds of work."""
        return Deadline(min(self.processor, self._now() + seconds), self.pause)

    def halfway(self) -> Deadline:
        """When half of the time until then is used up."""
        now = self._now()
        return Deadline(now + (self.processor - now) / 2, self.pause)

    def _now(self) -> float:
        """On the clock that stands still in the pause."""
        return time.process_time() - (self.pause.seconds if self.pause is not None else 0.0)


NEVER = Deadline()
