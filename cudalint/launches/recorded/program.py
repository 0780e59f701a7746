"""The recorded kernels of a program, by the functions of the source that they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.launches.recorded.files import read_recording
from cudalint.launches.recorded.merging import merged
from cudalint.launches.recorded.names import base_name, hidden, is_instance, key_of
from cudalint.launches.recorded.records import VERSION, RecordedKernel, Recording
from cudalint.launches.recorded.texts import RecordingError
from cudalint.system.disk import recorder as disk

T = TypeVar("T")
_MOST_KEPT: Final = 4
"""Programs that are kept in memory."""


class RecordedProgram(Struct, frozen=True, eq=False):
    """What some files hold."""

    path: str
    """The first of them."""
    time_us: float | None
    """Of all launches together, where all were timed."""
    digest: bytes = b""
    """Of all that they hold."""
    _by_key: Mapping[str, Sequence[RecordedKernel]] = {}
    """By what is the same whoever has compiled them, as they stand in the files."""
    _names: frozenset[str] = frozenset()
    """Their plain names."""
    _together: dict[tuple[str, ...], Sequence[RecordedKernel]] = field(default_factory=dict)
    """Those that were asked for, put together, by their keys."""
    _made: dict[tuple[int, object], Any] = field(default_factory=dict)
    """What was made of these, by their identities."""

    @classmethod
    def of(cls, path: str, recordings: Sequence[Recording]) -> RecordedProgram:
        by_key: dict[str, list[RecordedKernel]] = {}
        times: list[float | None] = []
        for kernel in (each for recording in recordings for each in recording.kernels if each.launches):
            by_key.setdefault(key_of(kernel.symbol), []).append(kernel)
            times += (None if each.time_us is None else each.count * each.time_us for each in kernel.launches)
        known = [time for time in times if time is not None]
        # An exact sum, whatever the order of the files and of their kernels.
        time = math.fsum(known) if known and len(known) == len(times) else None
        names = frozenset(base_name(kernel.symbol) for kernels in by_key.values() for kernel in kernels)
        return cls(path, time, disk.digest(msgspec.json.encode(recordings)), by_key, names)

    def __bool__(self) -> bool:
        return bool(self._by_key)

    def of_function(self, linkage_name: str, name: str, instantiation: str) -> Sequence[RecordedKernel]:
        """The kernels that a function may be, by what it is called in compiled code, or by its plain name and the
        arguments of its template where no more of it was recorded: several where it has had parameters of other sizes.
        """
        keys = (key_of(linkage_name), hidden(linkage_name)) if linkage_name else ()
        found = self._of_keys(keys, hidden(linkage_name))
        if found:
            return found
        plain = self._of_keys((name, hidden(name)), name)
        alike = tuple(kernel for kernel in plain if is_instance(kernel.name, instantiation))
        # Of several functions of a name nobody knows which one is meant.
        return alike if len({"".join(kernel.name.split()) for kernel in alike if kernel.name}) <= 1 else ()

    def _of_keys(self, keys: tuple[str, ...], symbol: str) -> Sequence[RecordedKernel]:
        """What is known by any of some keys, as kernels of one symbol: in one file the name of a kernel may be hidden,
        or that of another compiler, and in another not."""
        if not any(key in self._by_key for key in keys):
            return ()
        if keys not in self._together:
            own = [kernel for key in keys for kernel in self._by_key.get(key, ())]
            alike = tuple(replace(kernel, symbol=symbol) for kernel in own)
            self._together[keys] = merged([Recording(VERSION, alike)]).kernels
        return self._together[keys]

    def once(self, kernel: RecordedKernel, make: Callable[[RecordedKernel], T]) -> T:
        """What is made of a kernel of this program, of which there may be thousands of launches, when it is first asked
        for."""
        key = (id(kernel), make)
        if key not in self._made:
            self._made[key] = make(kernel)
        found: T = self._made[key]
        return found

    def has_of_name(self, name: str) -> bool:
        """Whether there is a kernel of a plain name, whatever it takes."""
        return name in self._names


NOTHING_RECORDED: Final = RecordedProgram("", None)


@disk.remembered(_MOST_KEPT)
def read_program(paths: tuple[str, ...]) -> tuple[RecordedProgram, tuple[tuple[str, str], ...]]:
    """What some files hold, and for each that can't be read its name and why."""
    recordings: list[Recording] = []
    failures: list[tuple[str, str]] = []
    for path in paths:
        try:
            recordings.append(read_recording(path))
        except (OSError, RecordingError) as error:
            failures.append((path, getattr(error, "strerror", None) or str(error)))
    program = RecordedProgram.of(paths[0], recordings) if recordings else NOTHING_RECORDED
    return program, tuple(failures)
