"""Reading files of recorded launches."""

from __future__ import annotations

from typing import Final

from cudalint.launches.recorded.records import Recording
from cudalint.launches.recorded.texts import RecordingError, recording_in
from cudalint.system.disk.regular import read_regular

DEFAULT_NAME: Final = "cudalint-launches.json"
LARGEST: Final = 32 << 20
"""Bytes of a file that is read."""


def read_recording(path: str) -> Recording:
    """The launches that a file holds. Raises OSError and RecordingError."""
    data = read_regular(path, LARGEST + 1)
    if len(data) > LARGEST:
        raise RecordingError(f"it has more than {LARGEST >> 20} MiB")
    return recording_in(data)
