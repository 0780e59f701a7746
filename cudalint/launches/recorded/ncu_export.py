"""What `ncu --csv` prints: a row for each launch (`--page raw`), or one for each metric of it (`--page details`)."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping
from typing import Final

from cudalint.launches.recorded.files import RecordingError
from cudalint.launches.recorded.gathering import Gathered, Made
from cudalint.launches.recorded.records import Recording

_HEADER: Final = re.compile(r'^"?ID"?,[^\n]*\bKernel Name\b', re.MULTILINE)
_METRIC: Final = ("Metric Name", "Metric Unit", "Metric Value")
_SHARED: Final = ("launch__shared_mem_per_block_dynamic", "Dynamic Shared Memory Per Block")
_TIME: Final = ("gpu__time_duration.sum", "gpu__time_duration.avg", "Duration")
_DEVICE: Final = "device__attribute_display_name"
_TIMES: Final = {
    "ns": 1, "nsecond": 1, "us": 10**3, "usecond": 10**3, "ms": 10**6, "msecond": 10**6, "s": 10**9, "second": 10**9,
}  # fmt: skip
"""Nanoseconds of each unit."""
_BYTES: Final = {"byte": 1, "b": 1, "kbyte": 10**3, "kb": 10**3, "mbyte": 10**6, "mb": 10**6}
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_NUMBER: Final = re.compile(r"\d{1,18}(?:\.\d{1,12})?")
_EXTENTS: Final = re.compile(r"\(?\s*(\d{1,10})\s*,\s*(\d{1,10})\s*,\s*(\d{1,10})\s*\)?")
_MOST_ROWS: Final = 5_000_000
_MOST_COLUMNS: Final = 20_000

_Value = tuple[str, str]
"""What stands in a cell, and its unit."""


def is_ncu(text: str) -> bool:
    """Whether a text has the head of such a table; lines that the program has printed may come before it."""
    return _HEADER.search(text) is not None


def read_ncu(text: str) -> Recording:
    """The launches of a table. Raises RecordingError."""
    begin = _HEADER.search(text)
    if begin is None:
        raise RecordingError("it has no table of Nsight Compute")
    gathered, devices, has_shared, has_launches = Gathered(), set[str](), False, False
    try:
        for number, launch in enumerate(_launches(_Lines(text, begin.start()), gathered)):
            has_launches = True
            has_shared |= _first(launch, _SHARED) is not None
            devices.add(launch.get(_DEVICE, ("", ""))[0])
            _add(gathered, launch, number)
    except csv.Error as error:
        raise RecordingError(f"it can't be read as a table of Nsight Compute: {error}") from error
    if not has_launches:
        raise RecordingError("its table has no launches")
    if not has_shared:
        raise RecordingError(f"it doesn't say how much shared memory launches ask for: add {_SHARED[0]} to `--metrics`")
    return gathered.recording(devices)


class _Lines:
    """The lines of a text from a place on, without a second copy of it."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self.at >= len(self.text):
            raise StopIteration
        end = self.text.find("\n", self.at) + 1 or len(self.text)
        line, self.at = self.text[self.at : end], end
        return line


def _launches(lines: _Lines, gathered: Gathered) -> Iterator[Mapping[str, _Value]]:
    """The cells of each launch by their columns, or by their metrics."""
    rows = csv.reader(lines)
    header = next(rows)
    if len(header) > _MOST_COLUMNS:
        raise RecordingError(f"its table has more than {_MOST_COLUMNS} columns")
    is_long = all(name in header for name in _METRIC)
    units: Mapping[str, str] = {}
    launch: dict[str, _Value] = {}
    of: tuple[str, ...] | None = None
    for number, row in enumerate(rows):
        if number >= _MOST_ROWS:
            raise RecordingError(f"its table has more than {_MOST_ROWS} rows")
        if len(row) != len(header):
            # What the program or the profiler has printed among them, or a row that ends early.
            gathered.left_out += not is_long and len(row) > 1
            continue
        cells = dict(zip(header, row, strict=True))
        if not is_long:
            if not cells["ID"]:
                units = cells
            elif cells["ID"] != "ID":
                yield {name: (value, units.get(name, "")) for name, value in cells.items()}
            continue
        own = (cells["ID"], cells.get("Process ID", ""), cells["Kernel Name"])
        if own != of:
            if launch:
                yield launch
            of, launch = own, {name: (value, "") for name, value in cells.items() if name not in _METRIC}
        name, unit, value = (cells[column] for column in _METRIC)
        if name:
            launch[name] = (value, unit)
    if launch:
        yield launch


def _add(gathered: Gathered, launch: Mapping[str, _Value], number: int) -> None:
    shared, time = _first(launch, _SHARED), _first(launch, _TIME)
    stream = (launch.get("Process ID"), launch.get("Context"), _whole(launch.get("Stream", ("", ""))[0]))
    made = Made(
        "", launch["Kernel Name"][0], _extents(launch, "Grid Size", "launch__grid_dim_"),
        _extents(launch, "Block Size", "launch__block_dim_"), None if shared is None else _bytes(*shared), stream,
        cluster=_extents(launch, "", "launch__cluster_dim_"),
    )  # fmt: skip
    gathered.add(gathered.slot(made), number, None if time is None or not time[0] else _scaled(*time, _TIMES))


def _first(launch: Mapping[str, _Value], names: tuple[str, ...]) -> _Value | None:
    return next((launch[name] for name in names if name in launch), None)


def _extents(launch: Mapping[str, _Value], column: str, metric: str) -> tuple[int, ...]:
    found = _EXTENTS.fullmatch(launch.get(column, ("", ""))[0].strip())
    if found is not None:
        return tuple(map(int, found.groups()))
    each = [_whole(launch.get(metric + axis, ("", ""))[0]) for axis in "xyz"]
    return tuple(value for value in each if value is not None)


def _number(text: str) -> float | None:
    text = text.strip()
    if _GROUPED.fullmatch(text):
        text = text.replace(",", "")
    return float(text) if _NUMBER.fullmatch(text) else None


def _whole(text: str) -> int | None:
    number = _number(text)
    return int(number) if number is not None and number.is_integer() else None


def _scaled(text: str, unit: str, units: Mapping[str, int]) -> int:
    """A number in the smallest of the units; -1 for what is none."""
    number, factor = _number(text), units.get(unit.partition("/")[0].strip().lower())
    return -1 if number is None or factor is None else round(number * factor)


def _bytes(text: str, unit: str) -> int:
    """Bytes. In larger units they are rounded: of those that are written so, the one that the largest power of two
    divides, since memory is asked for in elements."""
    exact = _scaled(text, unit, _BYTES)
    factor = _BYTES.get(unit.partition("/")[0].strip().lower(), 1)
    _, _, decimals = text.strip().partition(".")
    half = factor / float(10 ** len(decimals)) / 2
    if exact <= 0 or not decimals or half <= 1:
        return exact
    least, most = math.ceil(exact - half), math.floor(exact + half)
    step = 1
    while -(-least // (2 * step)) * 2 * step <= most and 2 * step <= most:
        step *= 2
    return -(-least // step) * step
