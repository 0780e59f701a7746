"""Which files a configuration may name.

A configuration comes along with a repository, and whoever lints that may never have looked at it. What it has read and
written therefore stays inside of that repository, and what it has written is a report by its name and stands in no
hidden folder: no hook of git, no file that another program executes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from cudalint.system.disk.border import project_top
from cudalint.system.disk.folders import work_tree


def resolved(folder: str, text: str) -> str:
    """A path that counts from the folder of a configuration on."""
    return os.path.normpath(os.path.join(folder, text))


def problem_of_read(folder: str, text: str) -> str | None:
    """Why a configuration in this folder may not have a file read; None where it may. That of a submodule may name what
    is around it. Where no repository is in sight, what is below the current folder belongs together."""
    own, here = os.path.realpath(folder), os.path.realpath(os.curdir)
    top = project_top(own)
    has_repository = top is not None and os.path.exists(os.path.join(top, ".git"))
    tops = [_top(folder)]
    if top is not None and has_repository:
        tops.append(top)
    elif _is_in(own, here):
        tops.append(here)
    path = os.path.realpath(resolved(folder, text))
    return None if any(_is_in(path, top) for top in tops) else "leads out of the repository"


def problem_of_written(folder: str, text: str, suffixes: Sequence[str]) -> str | None:
    """Why a configuration in this folder may not have a report written; None where it may."""
    path = os.path.realpath(resolved(folder, text))
    top = _top(folder)
    if not _is_in(path, top):
        return "leads out of the repository; --output on the command line may"
    if any(part.startswith(".") for part in os.path.relpath(path, top).split(os.sep)):
        return "leads into what is hidden; --output on the command line may"
    if os.path.exists(path) and not os.path.isfile(path):
        return "is there and no regular file; --output on the command line may write to it"
    if os.path.splitext(path)[1] not in suffixes:
        return f"has to end in {' or '.join(suffixes)}, as files of that format do"
    return None


def _top(folder: str) -> str:
    return work_tree(os.path.realpath(folder))


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(os.path.join(folder, ""))
