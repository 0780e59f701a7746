"""How a run gets on, for whoever waits for it."""

from __future__ import annotations

import time
from collections.abc import Callable

from cudalint.report.findings.results import Failure, FileReport
from cudalint.system.processes import time_limit

_SECONDS = 0.2
"""Between two words from a worker: more often nobody reads them."""


class Watcher:
    """Follows how a run gets on, in the process that waits for it. What is not overridden does nothing."""

    def begun(self, path: str) -> None:
        """A worker has begun with this file."""

    def at_kernel(self, path: str, kernel: str) -> None:
        """It has come to this kernel."""

    def done(self, path: str, answer: FileReport | Failure) -> None:
        """The file is done."""

    def waiting(self) -> None:
        """Nothing may have happened. Comes several times a second."""


class _Worker:
    """The process that works: to whom it may tell where it is."""

    listener: Callable[[str], None] | None = None
    last = 0.0


def tell_to(listener: Callable[[str], None] | None) -> None:
    """Has `tell` in this process tell somebody."""
    _Worker.listener = listener


def tell(kernel: str) -> None:
    """Says in a worker that it has come to a kernel; now and then only, and not where the word might be cut off."""
    if _Worker.listener is None or time_limit.may_interrupt() or time.monotonic() - _Worker.last < _SECONDS:
        return
    _Worker.last = time.monotonic()
    _Worker.listener(kernel)
