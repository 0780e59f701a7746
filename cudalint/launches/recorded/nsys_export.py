"""The SQLite files of `nsys export`.

Tables differ between versions, so what a table has is asked first. The file may be anybody's: it is opened to be read,
by statements that may do nothing else, for a limited time.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from typing import Final
from urllib.request import pathname2url

from cudalint.launches.recorded.gathering import Gathered, Made, Slot
from cudalint.launches.recorded.records import MOST_LETTERS, Recording
from cudalint.launches.recorded.texts import RecordingError

MAGIC: Final = b"SQLite format 3\0"
_KERNELS: Final = "CUPTI_ACTIVITY_KIND_KERNEL"
_STRINGS: Final = "StringIds"
_GPUS: Final = "TARGET_INFO_GPU"
_EXTENTS: Final = ("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ")
_NEEDED: Final = ("start", "end", *_EXTENTS, "dynamicSharedMemory")
_NAMES: Final = ("mangledName", "demangledName", "shortName")
_OPTIONAL: Final = (*_NAMES, "clusterX", "clusterY", "clusterZ", "launchType", "globalPid", "contextId", "streamId")
_COOPERATIVE: Final = (1, 2)
"""Launch types of CUPTI: on one device, and on several."""
_MOST_ROWS: Final = 10_000_000
_MOST_NAMES: Final = 1_000_000
_MOST_GPUS: Final = 1000
_MOST_SECONDS: Final = 300.0
_STEPS: Final = 100_000
"""Of SQLite's machine between two looks at the clock."""
_LONGEST_VALUE: Final = 1 << 20
"""Bytes of a text or number in the file."""
_READING: Final = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ)


def read_nsys(path: str) -> Recording:
    """The kernels of an export. Raises RecordingError."""
    location = f"file:{pathname2url(os.path.abspath(path))}?mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(location, uri=True, isolation_level=None)
    except sqlite3.Error as error:
        raise RecordingError(f"it can't be read as an export of Nsight Systems: {error}") from error
    try:
        return _read(connection)
    except (sqlite3.Error, OverflowError, UnicodeError, MemoryError) as error:
        raise RecordingError(f"it can't be read as an export of Nsight Systems: {_line(error)}") from error
    finally:
        connection.close()


def _line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _read(connection: sqlite3.Connection) -> Recording:
    end = time.monotonic() + _MOST_SECONDS
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY)
    connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)
    columns = _columns(connection, _KERNELS)
    if columns is None:
        raise RecordingError(f"it has no table {_KERNELS}: no kernel was traced, or it is no export of Nsight Systems")
    missing = [name for name in _NEEDED if name not in columns]
    if missing or not any(name in columns for name in _NAMES):
        raise RecordingError(f"its table {_KERNELS} has no column {missing[0] if missing else _NAMES[1]}")
    texts = _texts(connection)
    return _gathered(connection, columns, texts).recording(_gpus(connection))


def _columns(connection: sqlite3.Connection, table: str) -> frozenset[str] | None:
    """The columns of a table; None where there is none, but a view or a table of some module instead."""
    query = "SELECT type, sql FROM sqlite_master WHERE name = ? AND tbl_name = name LIMIT 2"
    found = connection.execute(query, (table,)).fetchall()
    if len(found) != 1 or found[0][0] != "table" or not str(found[0][1]).upper().startswith("CREATE TABLE"):
        return None
    return frozenset(column[0] for column in connection.execute(f'SELECT * FROM "{table}" LIMIT 0').description)  # noqa: S608


def _texts(connection: sqlite3.Connection) -> dict[object, str]:
    columns = _columns(connection, _STRINGS)
    if columns is None or not {"id", "value"} <= columns:
        raise RecordingError(f"it has no table {_STRINGS}, so that its kernels have no names")
    named = f"SELECT id, value FROM {_STRINGS} LIMIT {_MOST_NAMES + 1}"  # noqa: S608
    texts = {key: value for key, value in connection.execute(named) if _is_text(value)}
    if len(texts) > _MOST_NAMES:
        raise RecordingError(f"it has more than {_MOST_NAMES} names")
    return texts


def _is_text(value: object) -> bool:
    """Longer ones, such as whole command lines, are no names of kernels."""
    return isinstance(value, str) and len(value) <= MOST_LETTERS


def _gathered(connection: sqlite3.Connection, columns: frozenset[str], texts: dict[object, str]) -> Gathered:
    wanted = [*_NEEDED, *_OPTIONAL]
    # In SQLite, a quoted name that is no column is a text: what isn't there is never named.
    chosen = ", ".join(f'"{name}"' if name in columns else "NULL" for name in wanted)
    gathered = Gathered()
    slots: dict[tuple[object, ...], Slot] = {}
    rows = connection.execute(f"SELECT {chosen} FROM {_KERNELS} LIMIT {_MOST_ROWS + 1}")  # noqa: S608
    for number, row in enumerate(rows):
        if number >= _MOST_ROWS:
            raise RecordingError(f"it has more than {_MOST_ROWS} launches: export a shorter part of the recording")
        start, end, made = row[0], row[1], row[2:]
        slot = slots.get(made)
        if slot is None:
            slot = gathered.slot(_made(made, texts))
            if slot is not None:
                slots[made] = slot
        gathered.add(slot, start, _time(start, end))
    return gathered


def _time(start: object, end: object) -> object:
    """No time where none could be taken, for which CUPTI has zeros."""
    if end is None or end == 0:
        return None
    return end - start if isinstance(start, int) and isinstance(end, int) else -1


def _made(row: tuple[object, ...], texts: dict[object, str]) -> Made:
    grid, block, (shared, *names) = row[:3], row[3:6], row[6:10]
    cluster, (launch_type, *stream) = row[10:13], row[13:]
    mangled, demangled, short = (texts.get(name, "") if name is not None else "" for name in names)
    is_cooperative = launch_type in _COOPERATIVE
    return Made(
        mangled, demangled or short, grid, block, shared, tuple(stream), cluster=cluster, cooperative=is_cooperative
    )  # fmt: skip


def _gpus(connection: sqlite3.Connection) -> Iterator[str]:
    columns = _columns(connection, _GPUS)
    if columns is not None and "name" in columns:
        for (name,) in connection.execute(f"SELECT name FROM {_GPUS} LIMIT {_MOST_GPUS}"):  # noqa: S608
            if _is_text(name):
                yield name
