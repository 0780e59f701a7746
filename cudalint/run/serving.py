"""What runs in a worker process: it answers jobs until its parent closes the pipe."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Generic, TypeVar

from msgspec import Struct

from cudalint.run.limits import COUNTS_WORK, Limits
from cudalint.run.watching import tell_to
from cudalint.system.processes import memory, time_limit
from cudalint.system.processes.faults import described
from cudalint.system.processes.memory import peak_megabytes

_LEAST_GROWTH = 40
"""Megabytes that a worker may take in any case."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
"""Parameters of glibc's `mallopt` (malloc.h)."""
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
"""Parameters of glibc's `mallopt` (malloc.h)."""
ABANDONED = "it was left for something else"
"""The reason of a job that is lost because nobody waits for it."""
_EARLY = 1.25
"""The system's own timer of what a process computes counts in ticks: on a busy machine a tenth too much, and more."""
_PR_SET_PDEATHSIG = 1
"""prctl(2)."""

Job = TypeVar("Job")
Result = TypeVar("Result")


class Reply(Struct, Generic[Result], frozen=True):
    """What a worker sends back: a value, or the error that the function raised."""

    value: Result | None
    error: str | None
    retire: bool
    """The worker has used enough memory, or its result says that it is of no more use, and wants to be replaced."""


def serve(
    function: Callable[[Job], Result],
    connection: Connection,
    limits: Limits,
    inherited: Sequence[Connection],
    tells: bool,
    ends_with_parent: bool,
) -> None:
    """Answers jobs until the parent closes the pipe; `tells` has it say in between where it is. One that ends with its
    parent does so in the middle of a job, too, also where the parent was killed."""
    if ends_with_parent:
        _end_with_parent()
    for other in inherited:
        other.close()
    # An interrupt from the keyboard reaches the whole process group; ending the workers is the parent's work.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What the parent does about its own end is no handler for here.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if COUNTS_WORK:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
    use_one_thread()
    _keep_memory()
    tell_to(connection.send if tells else None)
    if limits.most_megabytes is not None:
        memory.limit(limits.most_megabytes)
    # The fork of a process that is large itself has not grown yet.
    megabytes = max(limits.megabytes, peak_megabytes() + _LEAST_GROWTH)
    if not os.environ.get("CUDALINT_DEBUG"):
        _silence_stderr()
    # What comes while it is at a job says that nobody waits for that.
    time_limit.listen(connection.poll)
    # Cycles are looked for between jobs, when little is left of them and nobody waits for an answer.
    gc.disable()
    while True:
        try:
            job: Job | None = connection.recv()
        except (EOFError, OSError):
            return
        if job is None:
            continue  # It was done by then.
        _let_run(limits.seconds)
        retires = _answer(connection, function, job, megabytes)
        _let_run(0)
        if not retires:
            memory.give_back()


def use_one_thread() -> None:
    """The workers are the parallelism: numpy's threads would only get into each other's way, and must not be forked."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("OMP_NUM_THREADS", "1")


def _end_with_parent() -> None:
    if sys.platform != "linux":
        return
    import ctypes

    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def _keep_memory() -> None:
    """Has glibc keep what numpy's arrays give back, for the next ones: to return it to the system and to ask for it
    again is a tenth of the work of a file, as measured."""
    if sys.platform != "linux":
        return
    import ctypes

    with contextlib.suppress(AttributeError, OSError):  # Another C library than glibc.
        library = ctypes.CDLL(None)
        library.mallopt(_M_TRIM_THRESHOLD, 128 << 20)
        library.mallopt(_M_MMAP_THRESHOLD, 32 << 20)


def _let_run(seconds: float) -> None:
    """Has the system end this process after so much computing, whatever library it is in; 0 for never. Somewhat earlier
    it is asked to end by itself."""
    time_limit.begin(seconds)
    if COUNTS_WORK:
        signal.setitimer(signal.ITIMER_PROF, _EARLY * seconds)


def _answer(connection: Connection, function: Callable[[Job], Result], job: Job, megabytes: float) -> bool:
    """Whether this process ends with it."""
    reply: Reply[Result]
    try:
        value = function(job)
        spent = bool(getattr(value, "retire", False)) or time_limit.is_over()
        reply = Reply(value, None, retire=spent or peak_megabytes() > megabytes)
        connection.send(reply)
    except time_limit.Abandoned:
        reply = Reply(None, ABANDONED, retire=False)
        connection.send(reply)
    except Exception as error:
        reply = Reply(None, described(error), retire=True)
        connection.send(reply)
    return reply.retire


def _silence_stderr() -> None:
    """libclang reports its own crashes on stderr; the parent says the same in one line."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
