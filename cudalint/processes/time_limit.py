"""What computes for too long is interrupted where something is done about it, before the process is ended from outside.

A worker that is killed at its limit loses all that it knew of a file. So somewhat earlier a signal of the process's own
clock (`ITIMER_VIRTUAL`) raises `OutOfTime`, but only inside `interruptible`, whose caller keeps what there is without
what was being computed: the other kernels of the file, or the findings without an edit that was being tried. Where the
system has no such clock nothing is ever interrupted. The limit counts what the system does for the process as well,
of which that clock knows nothing: it only says when to look.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator
from types import FrameType

from cudalint.disk import recorder as disk

_EARLIER = 0.85
"""The share of the limit after which it is time to end; what is left is for rules, and for sending the result."""
_FIRST_LOOK = 0.4
"""The share after which it is first looked how much of the limit is used up."""
_AGAIN = 0.02
"""After another such share it is looked, or said, again: what is raised in a finalizer, say, goes unheard."""
_HAS_CLOCK = hasattr(signal, "setitimer")


class OutOfTime(BaseException):
    """Raised at any point inside of `interruptible`. No `Exception`: nobody else may take it for a fault of the code
    that was interrupted."""


class _State:
    depth = 0
    is_over = False
    end = 0.0
    """On the clock of this process."""


def begin(seconds: float) -> None:
    """Starts the clock for a job that may compute for so long in all; 0 stops it."""
    _State.is_over = False
    _State.end = time.process_time() + _EARLIER * seconds
    if _HAS_CLOCK:
        signal.signal(signal.SIGVTALRM, _note)
        signal.setitimer(signal.ITIMER_VIRTUAL, _FIRST_LOOK * seconds, _AGAIN * seconds)


def is_over() -> bool:
    """Whether the job that runs, or has run last, came to the end of its time."""
    return _State.is_over


def may_interrupt() -> bool:
    """Whether the code that runs now may be left at any point."""
    return _State.depth > 0


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Code that may be left at any point: raises `OutOfTime` in it, or at its beginning where time is over by then.
    What it was changing must not be used afterwards."""
    if _State.is_over:
        disk.note_clock()
        raise OutOfTime
    _State.depth += 1
    try:
        yield
    except OutOfTime:
        # Another run might get further.
        disk.note_clock()
        raise
    finally:
        _State.depth -= 1


def _note(number: int, frame: FrameType | None) -> None:
    del number, frame
    if time.process_time() < _State.end:
        return
    _State.is_over = True
    if _State.depth:
        raise OutOfTime
