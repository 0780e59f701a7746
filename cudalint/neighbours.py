"""Other files of a folder that may launch a file's kernels, or call what launches them.

A kernel is often defined in one file and launched in another. Without the launch its block is a guess, so the files
beside it that mention its name are looked at as well, wherever the user points. And where the file has a function that
launches it, the sizes often come from a `main` beside it.
"""

from __future__ import annotations

import os
from collections.abc import Collection

_MAX_FILES = 8
_MAX_BYTES = 1_000_000
_MAX_CALLERS = 3
_LAUNCHING = (".cu",)
_CALLING = (".cu", ".cpp", ".cc", ".cxx", ".c")


def launchers(path: str, kernels: Collection[str]) -> list[str]:
    """Files in the folder of `path` whose text mentions a launch and one of the kernels."""
    return _beside(path, _LAUNCHING, (b"<<<", b"cudaLaunch"), kernels)[:_MAX_FILES]


def callers(path: str, functions: Collection[str]) -> list[str]:
    """Files in the folder of `path` whose text mentions a `main` and one of the functions."""
    return _beside(path, _CALLING, (b"main",), functions)[:_MAX_CALLERS]


def _beside(path: str, suffixes: tuple[str, ...], some: Collection[bytes], names: Collection[str]) -> list[str]:
    if not names or not os.path.isfile(path):
        return []
    folder = os.path.dirname(path)
    found = []
    for name in sorted(os.listdir(folder or ".")):
        other = os.path.join(folder, name)
        if name.endswith(suffixes) and name != os.path.basename(path):
            text = _text(other)
            if any(word in text for word in some) and any(own.encode() in text for own in names):
                found.append(other)
    return found


def _text(path: str) -> bytes:
    try:
        # Opening a pipe would wait for somebody to write into it.
        if not os.path.isfile(path) or os.path.getsize(path) > _MAX_BYTES:
            return b""
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""
