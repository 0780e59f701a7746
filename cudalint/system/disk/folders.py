"""Looking for something in a folder and in those around it, and reading what is found."""

from __future__ import annotations

import os
from typing import Final

from cudalint.system.disk import recorder as disk
from cudalint.system.disk.border import LICENCES, upwards
from cudalint.system.disk.regular import read_regular


def work_tree(folder: str) -> str:
    """The nearest folder upwards that git keeps something in; the folder itself if there is none."""
    return next((each for each in upwards(folder) if disk.exists(os.path.join(each, ".git"))), folder)


@disk.remembered(64)
def top_of_project(folder: str) -> str | None:
    """The nearest folder upwards that git keeps something in, or that has the licence of what it holds, as a copy
    without git's folder has; None if there is none, or only the root of the whole machine."""
    for each in upwards(folder):
        marks = (".git", *LICENCES)
        if os.path.dirname(each) != each and any(disk.exists(os.path.join(each, name)) for name in marks):
            return each
    return None


def without_detours(path: str) -> str:
    """A path without the folders that it enters only to leave them again, if it leads to the same place then: it does
    not where one of them is a link."""
    if os.pardir not in path.replace(os.sep, "/").split("/"):
        return path
    short = os.path.normpath(path)
    return short if disk.resolved(short) == disk.resolved(path) else path


_LARGEST: Final = 1 << 20
"""Bytes of a file that is worth reading beside the one that is asked for."""


def small_file(path: str) -> bytes:
    """What a file holds; nothing where there is none, or it is large."""
    try:
        text = read_regular(path, _LARGEST + 1)
    except OSError:
        return b""
    return text if len(text) <= _LARGEST else b""


def small_text(path: str) -> str:
    """The same as letters, with lines that end as they do everywhere."""
    return small_file(path).decode(errors="replace").replace("\r\n", "\n")
