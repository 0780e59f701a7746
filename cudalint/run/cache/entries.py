"""Entries of the cache: a report with what it rests on, each in a file of its own.

Entries are typed records in msgpack. Whatever does not read as one, for whatever reason, is no entry; nothing of one is
ever executed. They are written elsewhere and moved to their place, so that several runs may share a folder.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec
from msgspec import Raw, Struct
from msgspec.msgpack import Decoder, Encoder, Ext
from msgspec.structs import replace

from cudalint.report.findings.results import Coverage, FileReport
from cudalint.system.disk.recorder import Seen, digest
from cudalint.system.disk.regular import read_kept
from cudalint.system.disk.replacing import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_SUFFIX: Final = ".result"
_UNFINISHED: Final = ".new"
_ARRAY: Final = 1
_KEPT_FOR: Final = 30 * 24 * 3600
"""Seconds since an entry was last of use."""
_MOST_BYTES: Final = 512 << 20
_TIMED_FOR: Final = 24 * 3600
"""How long an entry counts for which time ran out: the machine may have been slow just then."""
_REMEMBERED_FOR: Final = 24 * 3600
"""How long an entry that is of use goes without saying so."""


class Entry(Struct, array_like=True):
    key: bytes
    digest: bytes
    """Of the report and what it rests on."""
    seen: Raw
    report: Raw


class _Array(Struct, array_like=True):
    type: str
    shape: tuple[int, ...]
    data: bytes


def _extension(value: Any) -> Ext:
    import numpy as np

    if not isinstance(value, np.ndarray):
        raise NotImplementedError(type(value))
    plain = np.ascontiguousarray(value)
    return Ext(_ARRAY, _ARRAYS.encode(_Array(plain.dtype.str, plain.shape, plain.tobytes())))


def array_of(code: int, data: memoryview) -> NDArray[Any]:
    import numpy as np

    if code != _ARRAY:
        raise ValueError(code)
    array = _ARRAY_DECODER.decode(data)
    return np.frombuffer(array.data, np.dtype(array.type)).reshape(array.shape)


_ARRAYS: Final = Encoder()
_ARRAY_DECODER: Final = Decoder(_Array)
ENCODER: Final = Encoder(enc_hook=_extension)
_ENTRIES: Final = Decoder(Entry)
_SEEN: Final = Decoder(Seen)


@cache
def _reports() -> Decoder[FileReport]:
    """Made when it is needed: a report has many records, and to look through them takes as long as to read a file."""
    return Decoder(FileReport, ext_hook=array_of)


class Kept(NamedTuple):
    """An entry that was read: what its report rests on, and the report, not yet decoded."""

    seen: Seen
    data: Raw

    def report(self) -> FileReport | None:
        """None for one that doesn't read as a report."""
        try:
            return _reports().decode(self.data)
        except (msgspec.MsgspecError, ValueError, TypeError):
            return None


def path_of(folder: str, key: bytes) -> str:
    name = key.hex()
    return os.path.join(folder, name[:2], name[2:] + _SUFFIX)


def read_entry(folder: str, key: bytes) -> Kept | None:
    """None where there is none for this key, or a damaged one."""
    path = path_of(folder, key)
    try:
        seen, report = opened(path, key)
        age = time.time() - os.stat(path).st_mtime
        if seen.is_timed and age > _TIMED_FOR:
            return None
        if age > _REMEMBERED_FOR:
            os.utime(path)
    except (OSError, msgspec.MsgspecError, ValueError):
        return None
    return Kept(seen, report)


def opened(path: str, key: bytes) -> tuple[Seen, Raw]:
    """What of the disk the entry rests on that a file holds for a key, and what it keeps. Raises OSError, and
    ValueError for an entry that is damaged or for another key."""
    entry = _ENTRIES.decode(read_kept(path))
    if entry.key != key or entry.digest != digest(bytes(entry.seen) + bytes(entry.report)):
        raise ValueError(path)
    return _SEEN.decode(entry.seen), entry.report


def put(path: str, key: bytes, seen: Seen, data: bytes) -> None:
    """Writes an entry that keeps what is encoded already. Raises OSError."""
    about = ENCODER.encode(seen)
    entry = ENCODER.encode(Entry(key, digest(about + data), Raw(about), Raw(data)))
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with replacing(path, _UNFINISHED) as temporary, open(temporary, "wb") as file:
        file.write(entry)


def write_entry(folder: str, key: bytes, seen: Seen, report: FileReport) -> bool:
    """Keeps a report, if it comes out of the entry as it went in; one that can't be kept is just not."""
    path = path_of(folder, key)
    try:
        data = ENCODER.encode(report)
        if not _is_same(_reports().decode(data), report):
            return False
        put(path, key, seen, data)
    except (OSError, msgspec.MsgspecError, ValueError, TypeError, NotImplementedError):
        return False
    return True


def _is_same(one: FileReport, other: FileReport) -> bool:
    """Whether two reports print the same: 1 and 1.0 don't, and what has an order has the same one."""
    sets, others = _sets(one), _sets(other)
    return sets == others and ENCODER.encode(_without_sets(one)) == ENCODER.encode(_without_sets(other))


def _sets(report: FileReport) -> tuple[object, ...]:
    return report.coverage, report.parameters, report.launched, report.unlaunched, report.whole, report.tried


def _without_sets(report: FileReport) -> FileReport:
    none: frozenset[Any] = frozenset()
    empty = replace(report, coverage=Coverage(), parameters=none)
    return replace(empty, launched=none, unlaunched=none, whole=none, tried={})


# --- all entries ---------------------------------------------------------------------------------------------


class Size(NamedTuple):
    entries: int
    bytes: int


def size_of(folder: str) -> Size:
    files = [status.st_size for path, status in _files(folder) if path.endswith(_SUFFIX)]
    return Size(len(files), sum(files))


def clear(folder: str) -> Size:
    """Removes all entries and says what they were; nothing else in the folder is touched."""
    files = [status.st_size for path, status in _files(folder) if _remove(path) and path.endswith(_SUFFIX)]
    return Size(len(files), sum(files))


def forget_old(folder: str, most: int = _MOST_BYTES) -> None:
    """Removes what was of no use for long, and then the oldest, until what is left is no larger than it may be."""
    now, left = time.time(), 0
    for path, status in sorted(_files(folder), key=lambda file: -file[1].st_mtime):
        left += status.st_size
        is_abandoned = not path.endswith(_SUFFIX) and status.st_mtime < now - _REMEMBERED_FOR
        if left > most or status.st_mtime < now - _KEPT_FOR or is_abandoned:
            _remove(path)


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """The files that entries are in, or were to be."""
    with suppress(OSError):
        for name in sorted(os.listdir(folder)):
            if len(name) == 2:  # As `path_of` cuts it.
                with suppress(OSError), os.scandir(os.path.join(folder, name)) as entries:
                    for entry in entries:
                        if entry.name.endswith((_SUFFIX, _UNFINISHED)):
                            with suppress(OSError):
                                yield entry.path, entry.stat(follow_symlinks=False)


def _remove(path: str) -> bool:
    try:
        os.unlink(path)
    except OSError:
        return False
    return True
