"""Exports of profilers that tests write and read."""

from __future__ import annotations

from pathlib import Path

from cudalint.launches.recorded.importing import read_export
from cudalint.launches.recorded.records import Recording
from cudalint.launches.recorded.texts import recording_in, text_of

ONE_LINE = r"\A[^\n]{1,400}\Z"


def read_again(path: Path) -> Recording:
    """The launches, which are such as a file may hold."""
    found = read_export(str(path))
    assert recording_in(text_of(found).encode()) == found
    return found


def written(folder: Path, data: bytes) -> Path:
    path = folder / "export"
    path.write_bytes(data)
    return path
