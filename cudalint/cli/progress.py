"""What somebody sees on stderr who waits for a run: how far it is, which file runs and where it is in it, and what was
found last."""

from __future__ import annotations

import sys
import time
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING

from cudalint.numerals import count
from cudalint.report.findings.results import Failure, FileReport
from cudalint.run.watching import Watcher

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live
    from rich.progress import Progress

_PATIENCE = 0.5
"""Seconds after which a run counts as one that somebody waits for. Shorter ones never import rich."""
_BETWEEN = 0.1
"""Seconds between two drawings."""
_BETWEEN_LINES = 30.0
"""Seconds between two lines where there is no terminal to draw on; shorter runs have none."""
_LAST_FOUND = 3


class ProgressBar(Watcher):
    """Counts files. It draws when the run says how it gets on: a thread that did so by itself would make it unsafe to
    fork workers. All that it has drawn is gone in the end. Without a terminal it is a line now and then."""

    def __init__(self, total: int, quiet: bool) -> None:
        self.is_watched = not quiet and total > 0
        self._is_drawn = sys.stderr.isatty()
        self._total = total
        self._done = 0
        self._start = self._drawn = time.monotonic()
        self._running: dict[str, str] = {}
        """Files that workers are at, the oldest first, with the kernel that each is at."""
        self._found: deque[str] = deque(maxlen=_LAST_FOUND)
        self._screen: _Screen | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._screen is not None:
            self._screen.live.stop()

    def begun(self, path: str) -> None:
        self._running[path] = ""

    def at_kernel(self, path: str, kernel: str) -> None:
        self._running[path] = kernel

    def done(self, path: str, answer: FileReport | Failure) -> None:
        self._running.pop(path, None)
        self._done += 1
        if isinstance(answer, FileReport):
            self._found += (
                f"{found.place.path}:{found.place.line}: {found.code} {found.message}"
                for found in answer.diagnostics[:_LAST_FOUND]
            )
        self.waiting()

    def waiting(self) -> None:
        now = time.monotonic()
        between = _BETWEEN if self._is_drawn else _BETWEEN_LINES
        if not self.is_watched or now - self._start < _PATIENCE or now - self._drawn < between:
            return
        self._drawn = now
        if not self._is_drawn:
            if self._done == self._total:
                return
            what = self._what_runs()
            text = f"{self._done} of {count(self._total, 'file')} done{f', at {what}' if what else ''}"
            print(f"cudalint: {_printable(text)}", file=sys.stderr, flush=True)  # noqa: T201
            return
        if self._screen is None:
            self._screen = _Screen(self._total)
        self._screen.draw(min(self._done, self._total), self._what_runs(), self._found)

    def _what_runs(self) -> str:
        """The file that has run for the longest time."""
        for path, kernel in self._running.items():
            return f"{path}: {kernel}" if kernel else path
        return ""


class _Screen:
    """The lines that are drawn, and drawn again in their place."""

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._bar: Progress = Progress(
            TextColumn("linting"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), auto_refresh=False
        )
        self._task = self._bar.add_task("linting", total=total)
        self.live: Live = Live(self._bar, console=Console(stderr=True), transient=True, auto_refresh=False)
        self.live.start()

    def draw(self, done: int, file: str, found: deque[str]) -> None:
        from rich.console import Group
        from rich.text import Text

        self._bar.update(self._task, completed=done)
        lines: list[RenderableType] = [
            Text(_printable(text), style=style, no_wrap=True, overflow="ellipsis")
            for text, style in ((file, ""), *((text, "dim") for text in found))
        ]
        self.live.update(Group(self._bar, *lines), refresh=True)


def _printable(text: str) -> str:
    """Without what would move the cursor or change colours: names of files may hold anything."""
    return "".join(character if character.isprintable() else "?" for character in text)
