"""The recorded kernels of a program, by the functions of the source that they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from cudalint.launches.recorded.files import RecordingError, read_recording, text_of
from cudalint.launches.recorded.merging import merged
from cudalint.launches.recorded.names import base_name, hidden, key_of
from cudalint.launches.recorded.records import RecordedKernel, Recording
from cudalint.system.disk.recorder import digest


class RecordedProgram(Struct, frozen=True, eq=False):
    """What some files hold."""

    path: str
    """The first of them."""
    time_us: float | None
    """Of all launches together, where all were timed."""
    digest: bytes = b""
    """Of all that they hold."""
    _by_key: Mapping[str, Sequence[RecordedKernel]] = {}
    """By what is the same whoever has compiled them."""
    _by_name: Mapping[str, Sequence[RecordedKernel]] = {}
    """By their plain names."""

    @classmethod
    def of(cls, path: str, recordings: Iterable[Recording]) -> RecordedProgram:
        whole = merged(recordings)
        by_key: dict[str, list[RecordedKernel]] = {}
        by_name: dict[str, list[RecordedKernel]] = {}
        times: list[float | None] = []
        for kernel in whole.kernels:
            by_key.setdefault(key_of(kernel.symbol), []).append(kernel)
            by_name.setdefault(base_name(kernel.symbol), []).append(kernel)
            times += (None if each.time_us is None else each.count * each.time_us for each in kernel.launches)
        known = [time for time in times if time is not None]
        time = sum(known) if known and len(known) == len(times) else None
        return cls(path, time, digest(text_of(whole).encode()), by_key, by_name)

    def __bool__(self) -> bool:
        return bool(self._by_key)

    def of_function(self, linkage_name: str, name: str) -> Sequence[RecordedKernel]:
        """The kernels that a function may be, by what it is called in compiled code, or by its plain name where no more
        of it was recorded: several where it has had parameters of other sizes."""
        keys = (key_of(linkage_name), hidden(linkage_name)) if linkage_name else ()
        return next((self._by_key[key] for key in (*keys, name, hidden(name)) if key in self._by_key), ())

    def has_of_name(self, name: str) -> bool:
        """Whether there is a kernel of a plain name, whatever it takes."""
        return name in self._by_name


NOTHING_RECORDED: Final = RecordedProgram("", None)


def read_program(paths: Sequence[str]) -> tuple[RecordedProgram, list[tuple[str, str]]]:
    """What some files hold, and for each that can't be read its name and why."""
    recordings, failures = [], []
    for path in paths:
        try:
            recordings.append(read_recording(path))
        except (OSError, RecordingError) as error:
            failures.append((path, getattr(error, "strerror", None) or str(error)))
    return (RecordedProgram.of(paths[0], recordings) if recordings else NOTHING_RECORDED), failures
