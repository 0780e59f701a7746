"""What the library has written while a program ran, read back as recorded launches.

The files are as `launch_files.h` says. They are read as if anybody had written them, since the program itself could
have; what is cut off is what a process that was killed hadn't written yet.
"""

from __future__ import annotations

import heapq
import os
import re
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.hardware.sectors import SECTOR_BYTES
from cudalint.launches.recorded.arguments import bytes_of
from cudalint.launches.recorded.ordering import heaviness
from cudalint.launches.recorded.records import (
    MOST_COUNTED,
    VERSION,
    Argument,
    RecordedKernel,
    RecordedLaunch,
    Recording,
)
from cudalint.launches.recorded.texts import RecordingError
from cudalint.regexes import regex

LINES: Final = ".lines"
COUNTS: Final = ".counts"
_FIRST_LINE: Final = b"cudalint-launches 1\n"
_MOST_BYTES: Final = 300 << 20
"""Of a file; the library stops at 256 MiB of lines, and at a million counts."""
_MOST_LINE: Final = 1 << 20
_MOST_FILES: Final = 10_000
_MOST_PARAMETERS: Final = 4096
_MOST_PARAMETER: Final = 1 << 16
_MOST_TEXT: Final = 20_000
"""Letters of an argument or of a symbol that the file of launches takes."""
_LARGEST_EXTENT: Final = (1 << 31) - 1
_MOST_SHARED: Final = 1 << 30
_COUNT: Final = np.dtype([("times", "<u8"), ("timed", "<u8"), ("nanoseconds", "<u8")])
_LAUNCH_FIELDS: Final = 14
"""Before its arguments."""
_NUMBER: Final = regex(rb"[0-9]{1,20}")
_UNKNOWN: Final = b"-"
_PLACE: Final = regex(rb"([0-9]{1,9})\+([0-9]{1,20})/([0-9]{1,20})")
"""Of a pointer: the allocation, the offset in it and its size."""


class Run(Struct, frozen=True):
    """What the processes of a command have left."""

    recording: Recording
    processes: int = 0
    """Those that have used CUDA."""
    launches: int = 0
    """All that were made."""
    lost: int = 0
    """Of these, such as the library had no room for."""
    problems: tuple[str, ...] = ()
    """What it couldn't do."""


class _Kernel(Struct):
    symbol: str
    sizes: tuple[int, ...] | None


class _Seen(Struct):
    kernel: _Kernel
    launch: RecordedLaunch
    arguments: tuple[bytes, ...]


class _Process(Struct):
    """The lines of one process."""

    kernels: dict[int, _Kernel] = field(default_factory=dict)
    launches: list[_Seen] = field(default_factory=list)
    device: str = ""
    problems: list[str] = field(default_factory=list)


def read_run(folder: str, most: int, of_each: int) -> Run:
    """What is in a folder, with so many different launches of each process and of each of its kernels at most: those
    that take most, and one of each kernel as far as there is room. Raises OSError and RecordingError."""
    names = sorted(name for name in os.listdir(folder) if name.endswith(LINES))
    if len(names) > _MOST_FILES:
        raise RecordingError(f"{len(names)} processes have used CUDA, and {_MOST_FILES} are the most that are read")
    runs = [_read_process(os.path.join(folder, name), most, of_each) for name in names]
    return Run(
        _merged([run.recording for run in runs]),
        processes=len(runs),
        launches=sum(run.launches for run in runs),
        lost=sum(run.lost for run in runs),
        problems=tuple(dict.fromkeys(problem for run in runs for problem in run.problems)),
    )


def _merged(recordings: list[Recording]) -> Recording:
    from cudalint.launches.recorded.merging import merged

    return merged(recordings) if recordings else Recording(VERSION)


def _read_process(path: str, most: int, of_each: int) -> Run:
    name = os.path.basename(path)
    try:
        process = _Process()
        for number, line in enumerate(_lines(path), 1):
            try:
                _take(process, line)
            except ValueError as error:
                raise RecordingError(f"line {number} of {name} can't be read: {error}") from error
        counts = _counts(path.removesuffix(LINES) + COUNTS)
    except OSError as error:
        raise RecordingError(f"{name} can't be read: {error.strerror or error}") from error
    seen = list(_condensed(_counted(process.launches, counts)))
    kept = _costliest(seen, most, of_each)
    total, lost = (int(counts["times"][0]), int(counts["timed"][0])) if len(counts) else (len(seen), 0)
    kernels: dict[tuple[str, tuple[int, ...] | None], list[RecordedLaunch]] = {}
    for each in kept:
        launches = kernels.setdefault((each.kernel.symbol, each.kernel.sizes), [])
        launches.append(replace(each.launch, arguments=_arguments(each, name)))
    together = [RecordedKernel(symbol, tuple(own), parameters=sizes) for (symbol, sizes), own in kernels.items()]
    recording = Recording(VERSION, tuple(together), process.device, len(seen) - len(kept))
    return Run(recording, 1, total, lost, tuple(process.problems))


def _lines(path: str) -> Iterator[bytes]:
    """Without the last one where it has no end, and none where the process was killed before it had written any."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(path, flags), "rb") as file:
        if os.fstat(file.fileno()).st_size > _MOST_BYTES:
            raise RecordingError(f"{os.path.basename(path)} has more than {_MOST_BYTES >> 20} MiB")
        first = file.readline(len(_FIRST_LINE))
        if first != _FIRST_LINE:
            if _FIRST_LINE.startswith(first):
                return
            raise RecordingError(f"{os.path.basename(path)} is of no recorder, or of that of another version")
        yield first
        while line := file.readline(_MOST_LINE):
            if line.endswith(b"\n"):
                yield line
            elif len(line) == _MOST_LINE:
                raise RecordingError(f"{os.path.basename(path)} has a line of more than {_MOST_LINE >> 20} MiB")


def _counts(path: str) -> np.ndarray:
    """Of launches by their numbers; those of none come first."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(path, flags), "rb") as file:
        if os.fstat(file.fileno()).st_size > _MOST_BYTES:
            raise RecordingError(f"{os.path.basename(path)} has more than {_MOST_BYTES >> 20} MiB")
        data = file.read(_MOST_BYTES)
    return np.frombuffer(data, _COUNT, len(data) // _COUNT.itemsize)


def _take(process: _Process, line: bytes) -> None:
    kind, *fields = line[:-1].split(b"\t")
    if kind == b"L":
        process.launches.append(_launch(process, fields))
    elif kind == b"K" and len(fields) == 3:
        process.kernels[_number(fields[0])] = _Kernel(_text(fields[2]), _sizes(fields[1]))
    elif kind == b"D" and len(fields) == 1:
        process.device = _text(fields[0])
    elif kind == b"!" and len(fields) == 1:
        process.problems.append(_text(fields[0]))
    elif line != _FIRST_LINE:
        raise ValueError("it is of no kind that is known")


def _launch(process: _Process, fields: list[bytes]) -> _Seen:
    if not _LAUNCH_FIELDS <= len(fields) <= _LAUNCH_FIELDS + _MOST_PARAMETERS:
        raise ValueError("it has too few or too many fields")
    order, number, *numbers = map(_number, fields[:_LAUNCH_FIELDS])
    kernel = process.kernels.get(number)
    if kernel is None:
        raise ValueError("it is of a kernel that isn't there")
    grid, block, shared, cluster = numbers[:3], numbers[3:6], numbers[6], numbers[7:10]
    if not all(1 <= size <= _LARGEST_EXTENT for size in (*grid, *block)) or shared > _MOST_SHARED:
        raise ValueError("no kernel is launched so")
    launch = RecordedLaunch(
        count=1,
        grid=(grid[0], grid[1], grid[2]),
        block=(block[0], block[1], block[2]),
        shared=shared,
        cluster=(cluster[0], cluster[1], cluster[2]) if all(1 <= n <= _LARGEST_EXTENT for n in cluster) else None,
        cooperative=numbers[10] != 0,
        stream=min(numbers[11], _LARGEST_EXTENT),
        order=order,
    )
    return _Seen(kernel, launch, tuple(fields[_LAUNCH_FIELDS:]))


def _counted(launches: list[_Seen], counts: np.ndarray) -> list[_Seen]:
    """Those that have been made: the kernels of a graph may never be."""
    found = []
    for each, count in zip(launches, counts[1:].tolist(), strict=False):
        times, timed, nanoseconds = count
        if 0 < times <= 1 << 62:
            time = nanoseconds / timed / 1000 if timed else None
            found.append(_Seen(each.kernel, replace(each.launch, count=times, time_us=time), each.arguments))
    return found


def _condensed(seen: Iterable[_Seen]) -> Iterator[_Seen]:
    """One for all that differ in nothing but where in their allocations arrays lie, as those of a matrix's rows do: a
    kernel sees no more of that than how they lie in a sector. It is the one whose arrays have least room behind them.
    """
    alike: dict[object, list[_Seen]] = {}
    for each in seen:
        arguments = tuple(_PLACE.sub(_in_sector, argument) for argument in each.arguments)
        way = replace(each.launch, count=1, order=None, time_us=None)
        alike.setdefault((id(each.kernel), way, arguments), []).append(each)
    for own in alike.values():
        last = min(own, key=lambda each: _room(each.arguments))
        count = min(MOST_COUNTED, sum(each.launch.count for each in own))
        times = [each.launch.count * each.launch.time_us for each in own if each.launch.time_us is not None]
        time = sum(times) / count if len(times) == len(own) else None
        order = min(each.launch.order or 0 for each in own)
        yield _Seen(last.kernel, replace(last.launch, count=count, time_us=time, order=order), last.arguments)


def _in_sector(found: re.Match[bytes]) -> bytes:
    return b"%s+%d/%s" % (found[1], int(found[2]) % SECTOR_BYTES, found[3])


def _room(arguments: Iterable[bytes]) -> int:
    """Bytes behind the array that has fewest."""
    found = (int(place[3]) - int(place[2]) for argument in arguments for place in _PLACE.finditer(argument))
    return min(found, default=0)


def _costliest(seen: list[_Seen], most: int, of_each: int) -> list[_Seen]:
    """Those of each kernel that take most; of these the first of each kernel, then those that take most of all."""
    taken = heaviness(each.launch for each in seen)
    by_kernel: dict[int, list[_Seen]] = {}
    for each in seen:
        by_kernel.setdefault(id(each.kernel), []).append(each)
    of_kernels = [heapq.nlargest(of_each, own, key=lambda each: taken(each.launch)) for own in by_kernel.values()]
    first = {id(own[0]) for own in of_kernels}
    rest = [each for own in of_kernels for each in own]
    return heapq.nlargest(most, rest, key=lambda each: (id(each) in first, taken(each.launch)))


def _arguments(seen: _Seen, name: str) -> tuple[Argument, ...] | None:
    sizes = seen.kernel.sizes
    if sizes is None or seen.arguments == (_UNKNOWN,):
        return None
    if len(sizes) != len(seen.arguments):
        raise RecordingError(f"{name} has a launch with other arguments than the kernel has parameters")
    try:
        found = tuple(_argument(text) for text in seen.arguments)
        for argument, size in zip(found, sizes, strict=True):
            bytes_of(argument, size)
    except ValueError as error:
        raise RecordingError(f"{name} has an argument that can't be read: {error}") from error
    return found


def _argument(text: bytes) -> Argument:
    return int(text) if _NUMBER.fullmatch(text) else _text(text)


def _number(text: bytes) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text[:20]!r} is no number")
    return int(text)


def _sizes(text: bytes) -> tuple[int, ...] | None:
    if text == _UNKNOWN:
        return None
    sizes = tuple(map(_number, text.split(b","))) if text else ()
    if len(sizes) > _MOST_PARAMETERS or any(size > _MOST_PARAMETER for size in sizes):
        raise ValueError("no kernel has such parameters")
    return sizes


def _text(data: bytes) -> str:
    if len(data) > _MOST_TEXT:
        raise ValueError("a text is too long")
    return data.decode("utf-8", "replace")
