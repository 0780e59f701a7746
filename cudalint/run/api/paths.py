"""The files that a call names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from cudalint.project.discovery import Discovery, SourceFile, discover
from cudalint.project.settings import Settings
from cudalint.run.api.configuration import ConfigurationError

Paths: TypeAlias = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""A file, folder or pattern, or several."""


NONE: tuple[()] = ()
"""No path is named. (An empty list is one that a program has made, and as good as any.)"""


def checked_texts(paths: Paths, texts: Mapping[str, str] | None) -> dict[str, str]:
    """The texts that stand for files. Raises ConfigurationError for what is none, and where there is nothing at all."""
    if paths is NONE and texts is None:
        raise ConfigurationError("nothing to look at: name paths, or give texts={name: source}")
    if texts is not None and not isinstance(texts, Mapping):
        raise ConfigurationError(f"texts is {type(texts).__name__}, and has to be a mapping: texts={{name: source}}")
    for name, text in (texts or {}).items():
        if not isinstance(name, str) or not isinstance(text, str):
            raise ConfigurationError(f"texts: {name!r} and its source have to be of type str")
    return dict(texts or {})


def _listed(paths: object) -> list[str | os.PathLike[str]]:
    named: list[Any] = list(paths) if isinstance(paths, Iterable) and not isinstance(paths, bytes) else [paths]
    for path in named:
        if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
            raise ConfigurationError(f"paths: {path!r} is no path; name one as a text or a Path, or several in a list")
    return named


def found_files(paths: Paths, texts: Mapping[str, str], settings: Settings) -> Discovery:
    """The files below some paths, and texts that stand for files. Raises ConfigurationError for what is neither."""
    named = [paths] if isinstance(paths, str | os.PathLike) else _listed(paths)
    # `-` is standard input for the command line, and a file's name here.
    arguments = [os.path.join(os.curdir, "-") if os.fspath(path) == "-" else os.fspath(path) for path in named]
    found = discover([path for path in arguments if path not in texts], settings.excludes)
    given = {os.path.realpath(path) for path in texts}
    files = [file for file in found.files if os.path.realpath(file.path) not in given]
    return Discovery((*files, *(SourceFile(path, text) for path, text in texts.items())), found.failures)
