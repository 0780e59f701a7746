"""Files that take their place in one step, since other processes may be reading or writing them too."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def replacing(path: str, suffix: str = ".new") -> Iterator[str]:
    """The path of an empty file beside `path`, which takes that one's place when the block ends without an exception,
    and is removed otherwise. The folder has to be there. Raises OSError where it can't be written to."""
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path), suffix=suffix)
    os.close(handle)
    try:
        yield temporary
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def write_whole(path: str, data: bytes) -> None:
    """Writes a file that is there as a whole or, if anything goes wrong, as it was before: what is written takes its
    place in one step, with the mode of the file that was there. Where the path is a link, its target is written.

    Devices and pipes take data as it comes, and so do files whose folder may not be written to or that can't be
    replaced, such as a file mounted into a container. Raises OSError where it can't be written.
    """
    path = os.path.realpath(path)
    mode = _mode_of(path)
    if mode is not None and not stat.S_ISREG(mode):
        _write(path, data)
        return
    if mode is not None and not os.access(path, os.W_OK):
        # Replacing it would need no more than the folder to be writable, and is not what its owner wants.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    try:
        with replacing(path) as temporary:
            _write(temporary, data)
            os.chmod(temporary, _mode_of_new_files() if mode is None else stat.S_IMODE(mode))
    except OSError as error:
        if mode is None or error.errno not in _IRREPLACEABLE:
            raise
        _write(path, data)


_IRREPLACEABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY, errno.EXDEV)


def _mode_of(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _mode_of_new_files() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _write(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
