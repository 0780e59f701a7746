"""The lines of files on disk."""

from __future__ import annotations

from cudalint.disk.regular import read_regular


def read_lines(path: str) -> list[bytes]:
    """The lines of a file without their line feeds, as bytes, since columns count bytes; none for a file that is gone.
    """
    try:
        return read_regular(path).split(b"\n")
    except OSError:
        return []
