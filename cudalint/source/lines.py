"""The lines of files on disk."""

from __future__ import annotations


def read_lines(path: str) -> list[bytes]:
    """The lines of a file without their line feeds, as bytes, since columns count bytes; none for a file that is gone.
    """
    try:
        with open(path, "rb") as file:
            return file.read().split(b"\n")
    except OSError:
        return []
