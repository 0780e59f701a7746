"""Reading files of a repository: only regular ones, and none without an end.

A pipe in the place of a file keeps whoever opens it waiting for good, a device may never end, and a link leads to
either.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Final

from cudalint.program import disk
from cudalint.source.encoding import to_text

_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_MESSAGE: Final = "no regular file (a pipe or device)"


def is_special(path: str) -> bool:
    """Whether something is there that is neither a file nor a folder."""
    return disk.kind_of(path) == "other"


def read_regular(path: str, most: int = -1) -> bytes:
    """The bytes of a regular file, no more than `most` where that is said. Raises OSError, also for all that is no
    regular file."""
    try:
        if is_special(path):
            raise OSError(errno.EINVAL, _MESSAGE, path)
        # What was a file a moment ago may be a pipe now: it is opened without waiting for a writer, and asked again.
        with open(os.open(path, _FLAGS), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, _MESSAGE, path)
            data = file.read(most)
    except OSError:
        disk.note_unreadable(path)
        raise
    disk.note_text(path, data, most, status)
    return data


def read_regular_text(path: str) -> str:
    """The same as letters; bytes that are not UTF-8 and line ends stay what they are."""
    return to_text(read_regular(path))
