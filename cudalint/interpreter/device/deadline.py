"""When to stop, by the processor's clock: a busy machine does not change what is found. What waits and computes nothing
is ended from outside (cudalint.driver.pool)."""

from __future__ import annotations

import math
import time

from msgspec import Struct

from cudalint.disk import recorder as disk


class Deadline(Struct, frozen=True):
    processor: float = math.inf
    """In seconds of this process."""

    def is_over(self) -> bool:
        is_over = self.processor < math.inf and time.process_time() > self.processor
        if is_over:
            disk.note_clock()
        return is_over

    def within(self, seconds: float) -> Deadline:
        """The same, and no later than after so many seconds of work."""
        return Deadline(min(self.processor, time.process_time() + seconds))

    def halfway(self) -> Deadline:
        """When half of the time until then is used up."""
        now = time.process_time()
        return Deadline(now + (self.processor - now) / 2)


NEVER = Deadline()
