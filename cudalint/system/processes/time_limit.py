"""What computes for too long is interrupted where something is done about it, before the process is ended from outside.

A worker that is killed at its limit loses all that it knew of a file. So somewhat earlier a signal (`ITIMER_REAL`)
raises `OutOfTime`, but only inside `interruptible`, whose caller keeps what there is without what was being computed:
the other kernels of the file, a rule, or the findings without an edit that was being tried. Where the system has no
such signal nothing is ever interrupted. The limit counts what the process computes: the signal only says when to look.
The timers that count that themselves are late by a tenth of a second and more on a busy machine.

In the same way work is left that nobody waits for any more, where that is `abandonable`.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable
from types import FrameType

from cudalint.system.disk import recorder as disk
from cudalint.system.processes import timings

_EARLIER = 0.85
"""The share of the limit after which it is time to end; what is left is for rules, and for sending the result."""
_LATER = 0.92
"""The same for the rules."""
_FIRST_LOOK = 0.4
"""The share after which it is first looked how much of the limit is used up."""
_AGAIN = 0.02
"""After another such share it is looked, or said, again: what is raised in a finalizer, say, goes unheard."""
_SECONDS_UNASKED = 0.02
"""After which work that may be abandoned asks whether it is."""
_SHORTEST = 0.01
"""In seconds: a timer of 0 is none."""
_HAS_CLOCK = hasattr(signal, "setitimer")


class OutOfTime(BaseException):
    """Raised at any point inside of `interruptible`. No `Exception`: nobody else may take it for a fault of the code
    that was interrupted."""


class Abandoned(BaseException):
    """Raised at any point inside of `abandonable`; no `Exception` for the same reason."""


class _State:
    depth = 0
    is_unwanted: Callable[[], bool] | None = None
    may_be_abandoned = False
    is_over = False
    """Whether the part of the job that runs has had its time."""
    was_over = False
    """Whether any part of it had."""
    end = 0.0
    last_end = 0.0
    """On the clock of this process: of the part that runs, and of the last one."""


def begin(seconds: float) -> None:
    """Starts the clock for a job that may compute for so long in all; 0 stops it."""
    now = time.process_time()
    _State.is_over = _State.was_over = False
    _State.end, _State.last_end = now + _EARLIER * seconds, now + _LATER * seconds
    if _HAS_CLOCK:
        signal.signal(signal.SIGALRM, _note)
        signal.setitimer(signal.ITIMER_REAL, _FIRST_LOOK * seconds, _AGAIN * seconds)


def grant(seconds: float) -> None:
    """Gives the job more time, for work that is not for it alone; what it doesn't take is taken back as less than 0."""
    _State.end += seconds
    _State.last_end += seconds
    if _HAS_CLOCK:
        left, again = signal.getitimer(signal.ITIMER_PROF)
        if left:
            signal.setitimer(signal.ITIMER_PROF, max(_SHORTEST, left + seconds), again)


def begin_last_part() -> None:
    """What comes now has the time that was kept for it, even where what went before was interrupted."""
    _State.is_over = False
    _State.end = _State.last_end


def is_over() -> bool:
    """Whether the job that runs, or has run last, came to the end of its time, or a part of it did."""
    return _State.was_over


def may_interrupt() -> bool:
    """Whether the code that runs now may be left at any point."""
    return _State.depth > 0


class interruptible:  # noqa: N801 - used as a function is, like those of contextlib
    """Code that may be left at any point: raises `OutOfTime` in it, or at its beginning where time is over by then.
    What it was changing must not be used afterwards."""

    def __enter__(self) -> None:
        if _State.is_over:
            disk.note_clock()
            raise OutOfTime
        _State.depth += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        _State.depth -= 1
        if kind is not None and issubclass(kind, OutOfTime):
            # Another run might get further.
            disk.note_clock()


def listen(is_unwanted: Callable[[], bool]) -> None:
    """`is_unwanted` tells, whenever it is asked, whether nobody waits any more for what this process is at."""
    _State.is_unwanted = is_unwanted


class abandonable:  # noqa: N801 - as above
    """Code that may be left at any point for something else: raises `Abandoned` in it. What is kept beyond it may only
    be changed at one stroke. Where nothing tells, or the system has no clock for it, it is never left."""

    def __enter__(self) -> None:
        if _HAS_CLOCK and _State.is_unwanted is not None:
            _State.may_be_abandoned = True
            signal.signal(signal.SIGALRM, _note)
            signal.setitimer(signal.ITIMER_REAL, _SECONDS_UNASKED, _SECONDS_UNASKED)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        _State.may_be_abandoned = False


_OWN = tuple(
    each.__code__ for each in (interruptible.__enter__, interruptible.__exit__, abandonable.__exit__)
)  # fmt: skip
_WHOLE = frozenset({disk.__file__, timings.__file__, contextlib.__file__})
"""Modules whose functions put back what they have changed for a while: they are not left half done either."""


def _note(number: int, frame: FrameType | None) -> None:
    del number
    # A signal that comes while this function runs leaves it to that call.
    is_whole = frame is not None and frame.f_code in (*_OWN, _note.__code__)
    is_unwanted = _State.is_unwanted if _State.may_be_abandoned else None
    if is_unwanted is not None and not (is_whole or _puts_back(frame)) and is_unwanted():
        raise Abandoned
    if time.process_time() < _State.end:
        return
    _State.is_over = _State.was_over = True
    # The way in and the way out are not left half done: to let go of what was computed may take longer than a tick.
    if _State.depth and not is_whole:
        raise OutOfTime


def _puts_back(frame: FrameType | None) -> bool:
    return frame is not None and frame.f_code.co_filename in _WHOLE
