"""Running a command so that its launches are recorded, as if nobody had been in between."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Final

from msgspec import Struct

from cudalint.confirm.recorder.building import built_library
from cudalint.confirm.recorder.raw import Run, read_run

INJECTION: Final = "CUDA_INJECTION64_PATH"
"""Where the driver looks for a library that it is to load."""
FOLDER: Final = "CUDALINT_RECORD_FOLDER"
TIME: Final = "CUDALINT_RECORD_TIME"
_PASSED_ON: Final = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")
_LEFT_TO_IT: Final = ("SIGINT", "SIGQUIT")
"""A terminal sends these to the command, too."""
_OF_SIGNALS: Final = 128


class CommandError(Exception):
    """The command can't be run; the message is one line."""


class Recorded(Struct, frozen=True):
    """What became of a command."""

    status: int
    """As a shell has it."""
    run: Run


def record(command: Sequence[str], most: int, of_each: int, is_timed: bool) -> Recorded:
    """Runs a command to its end and reads what was recorded. Raises BuildError, CommandError, RecordingError and
    OSError."""
    with built_library() as library, tempfile.TemporaryDirectory(prefix="cudalint-record-") as folder:
        variables = {INJECTION: library, FOLDER: folder, **({TIME: "1"} if is_timed else {})}
        status = _run(command, {**os.environ, **variables})
        return Recorded(status, read_run(folder, most, of_each))


def _run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    with _signals() as pass_on_to:
        try:
            # This command is what the user asks to be run; no shell reads it.
            process = subprocess.Popen(command, env=environment)  # noqa: S603
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise CommandError(f"{command[0]} can't be run: {reason}") from error
        pass_on_to(process)
        status = process.wait()
    return _OF_SIGNALS - status if status < 0 else status


@contextmanager
def _signals() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Passes on what this process is sent to the one that is named, and outlives it."""
    told: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def pass_on(number: int, frame: FrameType | None) -> None:
        if told:
            told[0].send_signal(number)
        else:
            early.append(number)

    def pass_on_to(process: subprocess.Popen[bytes]) -> None:
        told.append(process)
        for number in early:
            process.send_signal(number)

    def leave(number: int, frame: FrameType | None) -> None:
        """It is not ignored: the command would ignore it, too."""

    before = {}
    for names, handler in ((_PASSED_ON, pass_on), (_LEFT_TO_IT, leave)):
        for name in names:
            number = getattr(signal, name)
            if signal.getsignal(number) != signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
    try:
        yield pass_on_to
    finally:
        for number, own in before.items():
            signal.signal(number, own)
