"""A progress bar on stderr, for long runs that somebody watches."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

_PATIENCE = 1.0
"""Seconds after which a run counts as long. Short ones never import rich."""


class ProgressBar:
    """Counts files. It draws only on a terminal, and redraws when a file is done: a thread that did so by itself
    would make it unsafe to fork workers."""

    def __init__(self, total: int, quiet: bool) -> None:
        self._total = total
        self._done = 0
        self._start = time.monotonic()
        self._watched = not quiet and total > 1 and sys.stderr.isatty()
        self._bar: Progress | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, path: str) -> None:
        """One more file is done."""
        self._done += 1
        if not self._watched:
            return
        if self._bar is None and time.monotonic() - self._start > _PATIENCE:
            self._bar = _new_bar(self._total)
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._done, file=path, refresh=True)


def _new_bar(total: int) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("linting"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[file]}"),
        console=Console(stderr=True),
        transient=True,
        auto_refresh=False,
    )
    bar.add_task("linting", total=total, file="")
    bar.start()
    return bar
