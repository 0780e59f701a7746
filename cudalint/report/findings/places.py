"""Paths and columns as other programs want them: from the project's root on, and in characters."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from cudalint.facts import Place
from cudalint.report.findings.sources import SourceLines
from cudalint.system.disk.folders import work_tree

_ROOT_VARIABLES = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
"""Where GitHub's and GitLab's runners put the repository."""


def project_root() -> str:
    """The folder that services count paths from: the runner's, or else that of the git work tree around this one."""
    current = os.path.realpath(os.getcwd())
    for variable in _ROOT_VARIABLES:
        named = os.environ.get(variable)
        if named and _is_inside(current, os.path.realpath(named)):
            return os.path.realpath(named)
    return work_tree(current)


def _is_inside(path: str, folder: str) -> bool:
    try:
        return os.path.commonpath([path, folder]) == folder
    except ValueError:
        return False  # On another drive.


@lru_cache(maxsize=4096)
def path_from(root: str, path: str) -> str:
    """The path from a folder on, with slashes; absolute if it is outside of the folder."""
    absolute = os.path.join(os.path.realpath(os.path.dirname(os.path.abspath(path))), os.path.basename(path))
    try:
        relative = os.path.relpath(absolute, root)
    except ValueError:
        return Path(absolute).as_posix()  # On another drive.
    outside = relative.split(os.sep, 1)[0] == os.pardir
    return Path(absolute).as_posix() if outside else Path(relative).as_posix()


def uri(path: str) -> str:
    """A path with slashes as a reference to it; absolute ones become `file:` URIs."""
    if os.path.isabs(path):
        return Path(path).as_uri()
    return quote(os.fsencode(path))


def utf16_columns(place: Place, sources: SourceLines) -> tuple[int, int]:
    """Start and exclusive end in UTF-16 code units, from 1, where places count bytes."""
    return _utf16(place.path, place.line, place.column, sources), _utf16(
        place.path, place.end_line, place.end_column, sources
    )


def _utf16(path: str, line: int, column: int, sources: SourceLines) -> int:
    before = (sources.line(path, line) or b"")[: column - 1]
    # Of a line that is gone, only the column is known.
    missing = max(0, column - 1 - len(before))
    return len(before.decode("utf-8", "replace").encode("utf-16-le")) // 2 + missing + 1


def text_at(place: Place, sources: SourceLines) -> str:
    """The source at a place, on one line and without spaces: what stays the same when code moves."""
    lines = [sources.line(place.path, number) or b"" for number in range(place.line, place.end_line + 1)]
    if not lines:
        return ""
    lines[-1] = lines[-1][: place.end_column - 1]
    lines[0] = lines[0][place.column - 1 :]
    return "".join(b" ".join(lines).decode("utf-8", "replace").split())
