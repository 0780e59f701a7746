"""Files that take their place in one step, since other processes may be reading or writing them too."""

from __future__ import annotations

import os
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
