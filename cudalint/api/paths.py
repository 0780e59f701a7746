"""The files that a call names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from cudalint.project.discovery import Discovery, SourceFile, discover
from cudalint.project.settings import Settings

Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""A file, folder or pattern, or several."""


def found_files(paths: Paths, texts: Mapping[str, str], settings: Settings) -> Discovery:
    """The files below some paths, and texts that stand for files."""
    named = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    # `-` is standard input for the command line, and a file's name here.
    arguments = [os.path.join(os.curdir, "-") if os.fspath(path) == "-" else os.fspath(path) for path in named]
    found = discover([path for path in arguments if path not in texts], settings.excludes)
    given = {os.path.realpath(path) for path in texts}
    files = [file for file in found.files if os.path.realpath(file.path) not in given]
    return Discovery((*files, *(SourceFile(path, text) for path, text in texts.items())), found.failures)
