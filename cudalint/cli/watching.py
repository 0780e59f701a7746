"""`cudalint check --watch`: the same run again as often as one of its files changes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

import click
from msgspec import Struct, field

from cudalint.cli import INTERRUPTED, NOTHING_FOUND
from cudalint.cli.terminal import print_line
from cudalint.numerals import count
from cudalint.project.discovery import SUFFIXES
from cudalint.system.disk import recorder as disk

_BETWEEN = 0.5
"""Seconds between two looks at the files."""
_CONFIGURATIONS = ("cudalint.toml", "pyproject.toml", "compile_commands.json", "cudalint-launches.json")

State = dict[str, object]
"""What is seen of each file and folder."""


class Watched(Struct):
    """What the last run was about; a run notes it."""

    files: dict[str, None] = field(default_factory=dict)
    """Those that were linted, and all that were read for it."""
    folders: dict[str, None] = field(default_factory=dict)
    """In which another file may appear."""
    linted: int = 0
    """How many of the files were linted."""
    found: str = ""
    """What the last run came to, where its report does not say that itself."""

    def begin(self, files: Iterable[str], named: Sequence[str]) -> None:
        """Before a run of these files, which adds what it reads besides."""
        self.files = dict.fromkeys(files)
        self.linted = len(self.files)
        places = (path if os.path.isdir(path) else os.path.dirname(path) for path in (*self.files, *named))
        self.folders = dict.fromkeys(map(os.path.abspath, places))

    def state(self) -> State:
        found: State = {path: _stamp(path) for path in (*self.files, *self._configurations())}
        return found | {folder: tuple(_sources(folder)) for folder in self.folders}

    def _configurations(self) -> Iterator[str]:
        """Of the folders that were linted, and of those that they are in."""
        seen: set[str] = set()
        for folder in self.folders:
            while folder not in seen:
                seen.add(folder)
                yield from (os.path.join(folder, name) for name in _CONFIGURATIONS)
                folder = os.path.dirname(folder)


def _stamp(path: str) -> object:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _sources(folder: str) -> Iterator[str]:
    """What there is to lint in a folder, as far as names tell; folders in it may have more."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.name.endswith(SUFFIXES) or entry.is_dir()]
    except OSError:
        return
    yield from sorted(name for name in names if not name.startswith("."))


def watch(run: Callable[[], int], watched: Watched) -> int:
    """Runs until the user has enough, which is no failure; during a run it is an interruption as of any other."""
    before: State = {}
    while True:
        status = run()
        if status == INTERRUPTED:
            return status
        now = watched.state()
        # What has changed while the run was at it is linted once more.
        changed = [path for path in before if path in now and now[path] != before[path]]
        try:
            if watched.found:
                print_line(f"{time.strftime('%H:%M:%S')}: {watched.found}")
            if not changed:
                print_line(f"watching {count(watched.linted, 'file')}; Ctrl-C ends it")
            while not changed:
                time.sleep(_BETWEEN)
                before, now = now, watched.state()
                changed = [path for path, stamp in now.items() if before.get(path) != stamp]
        except KeyboardInterrupt:
            return NOTHING_FOUND
        before = now
        others = f" and {count(len(changed) - 1, 'more')}" if len(changed) > 1 else ""
        # Files are read again, and folders listed, as another run would.
        disk.forget()
        click.clear()
        print_line(f"{time.strftime('%H:%M:%S')}: {os.path.relpath(changed[0])}{others} changed")
