"""The standard streams and signals of the process: closed, full, read by nobody any more, or asked to end."""

from __future__ import annotations

import io
import os
import signal
import sys
from types import FrameType


class Terminated(BaseException):
    """Somebody else ends the process. It is raised wherever that happens, so that what was being written is removed and
    workers are ended; no `Exception`, so that nobody takes it for a fault of the code that was interrupted."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def name(self) -> str:
        return signal.Signals(self.number).name


def end_in_order() -> None:
    """Has the signals that ask a process to end raise `Terminated`, unless whoever started it has them ignored."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _raise)


def _raise(number: int, frame: FrameType | None) -> None:
    del frame
    # Once: what cleans up is not to be interrupted itself.
    signal.signal(number, signal.SIG_IGN)
    raise Terminated(number)


def open_streams() -> None:
    """Has all three streams there, under their own numbers. The first file that is opened would get the number of one
    that is closed, and what is meant for the stream. To write to a closed stdout fails as it does in other programs; a
    stderr that is closed or full changes nothing but what can be read there."""
    for number, flags in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            # The lowest number that is free.
            os.set_inheritable(os.open(os.devnull, flags), True)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)))
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)))
    known = sys.stderr
    encoding = known.encoding if known is not None else "utf-8"
    raw = io.BufferedWriter(_Patient(2, "w", closefd=False))
    sys.stderr = io.TextIOWrapper(raw, encoding, "backslashreplace", line_buffering=True, write_through=True)


class _Patient(io.FileIO):
    """A file that takes what can't be written for written."""

    def write(self, data: object) -> int:
        try:
            return super().write(data)  # type: ignore[arg-type]  # Whatever BufferedWriter passes on.
        except OSError:
            return memoryview(data).nbytes  # type: ignore[arg-type]
