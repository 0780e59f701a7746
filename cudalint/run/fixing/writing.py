"""Edited files put in the place of what they were, where that is still so and somebody allowed it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, suppress

from msgspec import Struct

from cudalint.project.discovery import Excludes, is_excluded
from cudalint.system.disk.folders import work_tree
from cudalint.system.disk.regular import read_regular
from cudalint.system.disk.replacing import replacing

CHANGED = "changed while it was being linted, so it is left as it is"


class Change(Struct, frozen=True):
    """What a file was, and what it is to be."""

    before: bytes
    after: bytes


class Grounds(Struct, frozen=True):
    """Where files may be written: the paths that the user named, and the work trees around the linted files."""

    named: frozenset[str]
    """Resolved."""
    trees: frozenset[str]
    excludes: Excludes = lambda path, is_folder: False

    @classmethod
    def of(cls, arguments: Iterable[str], linted: Iterable[str], excludes: Excludes) -> Grounds:
        named = frozenset(os.path.realpath(argument) for argument in arguments if argument != "-")
        folders = {os.path.dirname(os.path.realpath(path)) for path in linted}
        return cls(named, frozenset(work_tree(folder) for folder in folders), excludes)

    def problem_of(self, path: str) -> str | None:
        """Why a file may not be written; None where it may."""
        if os.path.islink(path):
            return "a symbolic link is not written to"
        resolved = os.path.realpath(path)
        if not any(_is_in(resolved, root) for root in self.named | self.trees):
            return "outside of the given paths and of their repository, so it is not written to"
        if resolved not in self.named and is_excluded(path, self.excludes):
            return "excluded, so it is not written to"
        try:
            mode = os.stat(path).st_mode
        except OSError as error:
            return f"cannot be written: {error.strerror}"
        if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH) or not os.access(path, os.W_OK):
            return "read-only, so it is not written to"
        return None


def _is_in(path: str, root: str) -> bool:
    return path == root or path.startswith(os.path.join(root, ""))


def write_together(changes: Mapping[str, Change]) -> tuple[str, str] | None:
    """Writes files that belong together, all of them or none: with their modes, each in one step. A path and what is
    wrong with it where they stay as they are."""
    at = ""
    try:
        with ExitStack() as places:
            for at, change in changes.items():
                temporary = places.enter_context(replacing(at))
                _fill(temporary, at, change.after)
            # As late as can be.
            for at, change in changes.items():
                if read_regular(at) != change.before:
                    raise _ChangedError
    except _ChangedError:
        return at, CHANGED
    except OSError as error:
        return at, f"cannot be written: {error.strerror or error}"
    return None


class _ChangedError(Exception):
    """A file is no longer what was linted."""


def _fill(temporary: str, path: str, data: bytes) -> None:
    status = os.stat(path)
    with open(temporary, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    with suppress(OSError, AttributeError):
        os.chown(temporary, status.st_uid, status.st_gid)
    os.chmod(temporary, stat.S_IMODE(status.st_mode))
