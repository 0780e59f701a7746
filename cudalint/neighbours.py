"""Other files of a folder that may launch a file's kernels.

A kernel is often defined in one file and launched in another. Without the launch its block is a guess, so the files
beside it that mention its name are looked at as well, wherever the user points.
"""

from __future__ import annotations

import os
from collections.abc import Collection

_MAX_FILES = 8
_MAX_BYTES = 1_000_000
_SUFFIXES = (".cu",)


def neighbours(path: str, kernels: Collection[str]) -> list[str]:
    """Files in the folder of `path` whose text mentions a launch and one of the kernels."""
    if not kernels or not os.path.isfile(path):
        return []
    folder = os.path.dirname(path)
    found = []
    for name in sorted(os.listdir(folder or ".")):
        other = os.path.join(folder, name)
        if name.endswith(_SUFFIXES) and name != os.path.basename(path) and _mentions(other, kernels):
            found.append(other)
    return found[:_MAX_FILES]


def _mentions(path: str, kernels: Collection[str]) -> bool:
    try:
        # Opening a pipe would wait for somebody to write into it.
        if not os.path.isfile(path) or os.path.getsize(path) > _MAX_BYTES:
            return False
        with open(path, "rb") as file:
            text = file.read()
    except OSError:
        return False
    return (b"<<<" in text or b"cudaLaunch" in text) and any(name.encode() in text for name in kernels)
