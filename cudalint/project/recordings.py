"""Which files of recorded launches count for a source: those that the user names, or else those of its configuration,
or else the one by the usual name that is nearest to it.

A recording may come along with a repository, as a configuration does. It is looked for no further than the project
goes, and one that can't be used costs nothing but itself.
"""

from __future__ import annotations

import os
from typing import Final, NamedTuple

from cudalint.launches.recorded.files import DEFAULT_NAME, read_recording
from cudalint.launches.recorded.texts import RecordingError
from cudalint.project.config import Config, Names, as_shown
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.border import surroundings

_LEVELS: Final = 64
"""Folders upwards in which one is looked for; no project is so deep."""


class Recordings(NamedTuple):
    """What counts for a source."""

    paths: Names = ()
    unusable: tuple[tuple[str, str], ...] = ()
    """Paths of those that would count, each with the reason why it can't."""


class RecordingsOfFolders:
    """Finds the recordings of each folder, and reads each of them once to see whether it can be used."""

    def __init__(self, named: Names | None) -> None:
        """`named` are those of the command line; None leaves it to configurations and to what is found."""
        self._named = named
        self._found: dict[str, str | None] = {}
        self._problems: dict[str, str | None] = {}

    def of(self, folder: str, config: Config | None) -> Recordings:
        """Those that count for sources in a folder, for which this configuration does."""
        paths, namer = self._wanted(folder, config)
        problems = {path: problem for path in dict.fromkeys(paths) if (problem := self._problem_of(path)) is not None}
        usable = tuple(path for path in dict.fromkeys(paths) if path not in problems)
        return Recordings(usable, tuple((path, f"{problem}{namer}") for path, problem in problems.items()))

    def _wanted(self, folder: str, config: Config | None) -> tuple[Names, str]:
        """With who names them, for a message."""
        if self._named is not None:
            return self._named, ""
        if config is not None and config.launches is not None:
            return config.launches, f" ({config.place_of('launches')} names it)"
        if folder not in self._found:
            self._found[folder] = _nearest(folder)
        found = self._found[folder]
        if found is None and config is not None:
            found = _in_folder(os.path.dirname(os.path.abspath(config.path)))
        return () if found is None else (found,), ""

    def _problem_of(self, path: str) -> str | None:
        if path not in self._problems:
            try:
                check_recording(path)
                self._problems[path] = None
            except RecordingError as error:
                self._problems[path] = str(error)
        return self._problems[path]


def check_recording(path: str) -> None:
    """Raises RecordingError, with a message of one line, for a file that can't be read or has no launches in it."""
    try:
        recording = read_recording(path)
    except OSError as error:
        raise RecordingError(f"cannot read it: {error.strerror or error}") from error
    if not recording.launches:
        raise RecordingError("it holds no recorded launches")


def _nearest(folder: str) -> str | None:
    """The recording of a folder, or else of the nearest one above it in its project."""
    found = map(_in_folder, surroundings(folder, _LEVELS))
    return next((path for path in found if path is not None), None)


def _in_folder(folder: str) -> str | None:
    """What is no file is found too, so that it can be said that it is none; a folder of that name means nothing."""
    path = os.path.join(folder, DEFAULT_NAME)
    return as_shown(path) if disk.kind_of(path) in ("file", "other") else None
