"""Other files, of the same folder and of the one above, that may launch a file's kernels, call what launches them, or
define what the host code calls.

A kernel is often defined in one file and launched in another. Without the launch its block is a guess, so the files
beside it that mention its name are looked at as well, wherever the user points. And where the file has a function that
launches it, the sizes often come from a `main` beside it, or from one above a folder of kernels.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection

from cudalint.disk import recorder as disk
from cudalint.disk.folders import small_file
from cudalint.heuristics import heuristic
from cudalint.source.comments import COMMENT_IN_BYTES

_MAX_FILES = 8
_MAX_CALLERS = 3
_MAX_DEFINERS = 2
_MAX_ABOVE = 64
"""Files of the folder above: one with more of them is a collection, and not the rest of this program."""
_LAUNCHING = (".cu",)
CALLING = (".cu", ".cpp", ".cc", ".cxx", ".c")
_LAUNCH = rb"<<<|cudaLaunch"
_MAIN = rb"\bmain\s*\("
_CALL = rb"\("


def launchers(path: str, kernels: Collection[str]) -> list[str]:
    """Files near `path` whose text mentions a launch and one of the kernels."""
    return _near(path, _LAUNCHING, _LAUNCH, kernels)[:_MAX_FILES]


def callers(path: str, functions: Collection[str]) -> list[str]:
    """Files near `path` whose text mentions a `main` and one of the functions."""
    return _near(path, CALLING, _MAIN, functions)[:_MAX_CALLERS]


def wrappers(path: str, functions: Collection[str]) -> list[str]:
    """Files near `path` without a `main` whose text mentions one of the functions."""
    found = _near(path, CALLING, _CALL, functions)
    return [other for other in found if not re.search(_MAIN, small_file(other))][:_MAX_CALLERS]


def definers(path: str, function: str) -> list[str]:
    """Files near `path` in whose text a body follows the function's name and its parameters."""
    body = rb"(?<![\w.>])" + re.escape(function.encode()) + rb"\s*\([^;{}]*\)[^;{}()]*\{"
    return _with(path, body)


def setters(path: str, constant: str) -> list[str]:
    """Files near `path` in whose text a constant is given a value where it is declared."""
    value = rb"(?<![\w.>])" + re.escape(constant.encode()) + rb"\s*(?:\[[^\[\];]*\]\s*)*(?:=(?!=)|\{)"
    return _with(path, value)


def _with(path: str, pattern: bytes) -> list[str]:
    """Files near `path` in whose text, without its comments, something is found."""
    texts = ((other, COMMENT_IN_BYTES.sub(b" ", small_file(other))) for other in sources_near(path, CALLING))
    return [other for other, text in texts if re.search(pattern, text)][:_MAX_DEFINERS]


def _near(path: str, suffixes: tuple[str, ...], some: bytes, names: Collection[str]) -> list[str]:
    if not names or not disk.is_file(path):
        return []
    named = rb"(?<!\w)(?:" + b"|".join(re.escape(name.encode()) for name in sorted(names)) + rb")(?!\w)"
    texts = ((other, small_file(other)) for other in sources_near(path, suffixes))
    return [other for other, text in texts if re.search(some, text) and re.search(named, text)]


@heuristic("files-nearby", "kernels defined in one file and launched in another").otherwise([])
def sources_near(path: str, suffixes: tuple[str, ...]) -> list[str]:
    """Other files of its folder, and then of the one above; what is above a work tree belongs to somebody else."""
    folder = os.path.dirname(path)
    beside = [other for other in _sources(folder, suffixes) if os.path.basename(other) != os.path.basename(path)]
    parent = os.path.join(folder, os.pardir) if folder in ("", os.curdir) else os.path.dirname(folder)
    if disk.exists(os.path.join(folder, ".git")) or disk.resolved(parent) == disk.resolved(folder):
        return beside
    above = _sources(parent, suffixes)
    return beside + (above if len(above) <= _MAX_ABOVE else [])


def _sources(folder: str, suffixes: tuple[str, ...]) -> list[str]:
    return [os.path.join(folder, name) for name in disk.names_in(folder, suffixes)]
