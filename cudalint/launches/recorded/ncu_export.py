"""What `ncu --csv` prints: a row for each launch (`--page raw`), or one for each metric of it (`--page details`)."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from typing import Final

from cudalint.launches.recorded.gathering import Gathered, Made
from cudalint.launches.recorded.records import Recording
from cudalint.launches.recorded.texts import RecordingError
from cudalint.regexes import regex

_NAME: Final = "Kernel Name"
_FIRST: Final = regex('"?ID"?,')
_METRIC: Final = ("Metric Name", "Metric Unit", "Metric Value")
_SHARED: Final = ("launch__shared_mem_per_block_dynamic", "Dynamic Shared Memory Per Block")
_TIME: Final = ("gpu__time_duration.sum", "gpu__time_duration.avg", "Duration")
_DEVICE: Final = "device__attribute_display_name"
_DIMENSIONS: Final = ("launch__grid_dim_", "launch__block_dim_", "launch__cluster_dim_")
_ID: Final = "ID"
_OF_LAUNCH: Final = ("Process ID", "Context", "Stream", "Block Size", "Grid Size")
_WANTED: Final = frozenset(
    (
        _ID,
        _NAME,
        *_OF_LAUNCH,
        *_METRIC,
        *_SHARED,
        *_TIME,
        _DEVICE,
        *(name + axis for name in _DIMENSIONS for axis in "xyz"),
    )
)
_TIMES: Final = {
    "ns": 1, "nsecond": 1, "us": 10**3, "usecond": 10**3, "ms": 10**6, "msecond": 10**6, "s": 10**9, "second": 10**9,
}  # fmt: skip
"""Nanoseconds of each unit."""
_BYTES: Final = {"byte": 1, "b": 1, "kbyte": 10**3, "kb": 10**3, "mbyte": 10**6, "mb": 10**6}
_GROUPED: Final = regex(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_NUMBER: Final = regex(r"\d{1,18}(?:\.\d{1,12})?")
_EXTENTS: Final = regex(r"\(?\s*(\d{1,10})\s*,\s*(\d{1,10})\s*,\s*(\d{1,10})\s*\)?")
_MOST_ROWS: Final = 5_000_000
_MOST_COLUMNS: Final = 20_000

_Value = tuple[str, str]
"""What stands in a cell, and its unit."""


def head_of(text: str) -> int | None:
    """Where the head of such a table stands in a text; lines that the program has printed may come before it."""
    at = text.find(_NAME)
    while at >= 0:
        line, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        if _FIRST.match(text, line):
            return line
        at = text.find(_NAME, end) if end >= 0 else -1
    return None


def read_ncu(text: str, head: int) -> Recording:
    """The launches of a table by where its head stands. Raises RecordingError."""
    gathered, devices, has_shared, has_launches = Gathered(), set[str](), False, False
    try:
        for number, launch in enumerate(_launches(csv.reader(_Lines(text, head)), gathered)):
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


def _launches(rows: Iterator[list[str]], gathered: Gathered) -> Iterator[Mapping[str, _Value]]:
    """What the table says of each launch, by the names of columns and metrics."""
    header = next(rows)
    if len(header) > _MOST_COLUMNS:
        raise RecordingError(f"its table has more than {_MOST_COLUMNS} columns")
    places = {name: place for place, name in enumerate(header) if name in _WANTED}
    if not {_ID, _NAME} <= places.keys():
        raise RecordingError(f"its table has no column {_NAME}")
    if all(name in places for name in _METRIC):
        # Rows of metrics leave out the columns of rules that come after theirs.
        needed = 1 + max(places[name] for name in (_ID, _NAME, *_METRIC))
        return _by_metrics(_of_length(rows, needed, len(header)), places)
    return _by_rows(_of_length(rows, len(header), len(header), gathered), places)


def _of_length(
    rows: Iterator[list[str]], least: int, most: int, gathered: Gathered | None = None
) -> Iterator[list[str]]:
    """Without what the program or the profiler has printed among them, and without rows that end early, which are
    counted where each is a launch."""
    for number, row in enumerate(rows):
        if number >= _MOST_ROWS:
            raise RecordingError(f"its table has more than {_MOST_ROWS} rows")
        if least <= len(row) <= most:
            yield row
        elif gathered is not None and len(row) > 1:
            gathered.left_out += 1


def _by_rows(rows: Iterator[list[str]], places: Mapping[str, int]) -> Iterator[Mapping[str, _Value]]:
    units: Mapping[str, str] = {}
    for row in rows:
        if not row[places[_ID]]:
            units = {name: row[place] for name, place in places.items()}
        elif row[places[_ID]] != _ID:
            yield {name: (row[place], units.get(name, "")) for name, place in places.items()}


def _by_metrics(rows: Iterator[list[str]], places: Mapping[str, int]) -> Iterator[Mapping[str, _Value]]:
    own = [places[name] for name in (_ID, "Process ID", _NAME) if name in places]
    metric, unit, value = (places[name] for name in _METRIC)
    launch: dict[str, _Value] = {}
    of: list[str] | None = None
    for row in rows:
        if of != (now := [row[place] for place in own]):
            if launch:
                yield launch
            of, launch = now, {name: (row[place], "") for name, place in places.items()}
        # Metrics are called as columns are, too: the number of blocks `Grid Size`.
        if row[metric] in _WANTED and row[metric] not in places:
            launch[row[metric]] = (row[value], row[unit])
    if launch:
        yield launch


def _add(gathered: Gathered, launch: Mapping[str, _Value], number: int) -> None:
    shared, time = _first(launch, _SHARED), _first(launch, _TIME)
    stream = (launch.get("Process ID"), launch.get("Context"), _whole(launch.get("Stream", ("", ""))[0]))
    made = Made(
        "", launch[_NAME][0], _extents(launch, "Grid Size", "launch__grid_dim_"),
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
