"""What profilers export, as recorded launches."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from typing import Final

from cudalint.launches.recorded import nsys_export
from cudalint.launches.recorded.ncu_export import head_of, read_ncu
from cudalint.launches.recorded.nsys_export import read_nsys
from cudalint.launches.recorded.records import Recording
from cudalint.launches.recorded.texts import RecordingError
from cudalint.launches.recorded.torch_trace import read_torch
from cudalint.system.disk.regular import open_own

_LARGEST: Final = 512 << 20
"""Bytes of a text, unpacked."""
_GZIP: Final = b"\x1f\x8b"
_NCU_REPORT: Final = b"NVR\0"
_MARKS: Final = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"), (codecs.BOM_UTF8, "utf-8-sig"))
_HEAD: Final = 4096


def read_export(path: str) -> Recording:
    """The launches in an export of Nsight Systems, Nsight Compute or PyTorch's profiler, whatever its name is. Raises
    OSError and RecordingError."""
    with open_own(path) as file:
        head = file.read(_HEAD)
        if head.startswith(nsys_export.MAGIC):
            return read_nsys(path)
        if head.startswith(_NCU_REPORT):
            raise RecordingError(
                "it is a report of Nsight Compute, which only that reads: export it with "
                "`ncu --import <report> --page raw --csv --print-kernel-base mangled`"
            )
        file.seek(0)
        data = _unpacked(file) if head.startswith(_GZIP) else file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise RecordingError(f"it has more than {_LARGEST >> 20} MiB")
    return _of_text(data)


def _unpacked(file: io.BufferedReader) -> bytes:
    try:
        with gzip.GzipFile(fileobj=file) as unpacked:
            return unpacked.read(_LARGEST + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RecordingError(f"it can't be unpacked: {error}") from error


def _of_text(data: bytes) -> Recording:
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if encoding is not None:
        data = data.decode(encoding, "replace").encode()
    begin = data[:_HEAD].lstrip()[:1]
    if begin in (b"{", b"["):
        return read_torch(data)
    if b"\0" not in data[:_HEAD]:
        text = data.decode("utf-8", "replace")
        head = head_of(text)
        if head is not None:
            return read_ncu(text, head)
    raise RecordingError(
        "it is no export that cudalint reads: SQLite of `nsys export`, a trace of PyTorch's profiler, or what "
        "`ncu --csv` prints"
    )
