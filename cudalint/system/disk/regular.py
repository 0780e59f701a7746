"""Reading files of a repository: only regular ones, none without an end, and none that a link finds elsewhere.

A pipe in the place of a file keeps whoever opens it waiting for good, a device may never end, and a link leads to
either, or to what is no part of the repository.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from typing import Final

from cudalint.system.disk import recorder as disk
from cudalint.system.disk.border import problem_of_link
from cudalint.system.disk.encoding import to_text

_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_MESSAGE: Final = "no regular file (a pipe or device)"
LARGEST: Final = 64 << 20
"""Bytes of a file; no source is so large."""


def is_special(path: str) -> bool:
    """Whether something is there that is neither a file nor a folder."""
    return disk.kind_of(path) == "other"


def read_regular(path: str, most: int = -1) -> bytes:
    """The bytes of a regular file, no more than `most` where that is said. Raises OSError, also for all that is no
    regular file, is huge, or is what a link leads to that leaves its project."""
    try:
        if is_special(path):
            raise OSError(errno.EINVAL, _MESSAGE, path)
        problem = problem_of_link(path)
        if problem is not None:
            raise OSError(errno.EPERM, f"it {problem}", path)
        data, status = _read(path, most)
    except OSError:
        disk.note_unreadable(path)
        raise
    disk.note_text(path, data, most, status)
    return data


def read_own(path: str) -> bytes:
    """The same of a file that this program has written, or that the user names: no result rests on it, and where a link
    leads is the user's wish. Raises OSError."""
    return _read(path, -1)[0]


@contextmanager
def open_own(path: str) -> Iterator[BufferedReader]:
    """Such a file, to be read in parts or up to a limit, since it may be larger than any source. Raises OSError."""
    with _opened(path, _is_file, _FLAGS) as (file, _):
        yield file


def read_kept(path: str) -> bytes:
    """The same of a file that is kept in the user's cache: one that the user owns, and no link. Raises OSError."""
    return _read(path, -1, is_fit=_is_kept, flags=_FLAGS | getattr(os, "O_NOFOLLOW", 0))[0]


def is_kept(path: str) -> bool:
    """Whether there is such a file of the cache."""
    try:
        return _is_kept(os.lstat(path))
    except OSError:
        return False


def _is_kept(status: os.stat_result) -> bool:
    """Other users may have put into a folder what they like."""
    return _is_file(status) and (sys.platform == "win32" or status.st_uid == os.geteuid())


def _is_file(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode)


def _read(
    path: str, most: int, is_fit: Callable[[os.stat_result], bool] = _is_file, flags: int = _FLAGS
) -> tuple[bytes, os.stat_result]:
    with _opened(path, is_fit, flags) as (file, status):
        if status.st_size > LARGEST and not 0 <= most <= LARGEST:
            raise OSError(errno.EFBIG, f"larger than {LARGEST >> 20} MB", path)
        return file.read(most), status


@contextmanager
def _opened(
    path: str, is_fit: Callable[[os.stat_result], bool], flags: int
) -> Iterator[tuple[BufferedReader, os.stat_result]]:
    # What was a file a moment ago may be a pipe now: it is opened without waiting for a writer, and asked again.
    with open(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not is_fit(status):
            raise OSError(errno.EINVAL, _MESSAGE, path)
        yield file, status


def read_regular_text(path: str) -> str:
    """The same as letters; bytes that are not UTF-8 and line ends stay what they are."""
    return to_text(read_regular(path))


def is_too_large(path: str) -> bool:
    """Whether a file has more than `LARGEST` bytes, so that nobody is to read it; that is noted then."""
    try:
        if os.stat(path).st_size <= LARGEST:
            return False
    except (OSError, ValueError):
        return False
    disk.note_unreadable(path)
    return True
