"""The recorded kernels of a program, by the functions of the source that they are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct, field

from cudalint.launches.recorded.files import RecordingError, read_recording
from cudalint.launches.recorded.names import hidden, key_of
from cudalint.launches.recorded.records import RecordedKernel, RecordedLaunch, Recording
from cudalint.system.disk.recorder import digest

_MANGLED: Final = "_Z"


class RecordedProgram(Struct, frozen=True, eq=False):
    """What some files hold."""

    path: str
    """The first of them."""
    time_us: float | None
    """Of all launches together, where all were timed."""
    digest: bytes = b""
    """Of all that they hold."""
    _by_key: dict[str, RecordedKernel] = field(default_factory=dict)

    @classmethod
    def of(cls, path: str, recordings: Iterable[Recording]) -> RecordedProgram:
        by_key: dict[str, RecordedKernel] = {}
        times: list[float | None] = []
        for recording in recordings:
            for kernel in recording.kernels:
                key = key_of(kernel.symbol)
                before = by_key.get(key)
                by_key[key] = kernel if before is None else _together(before, kernel)
                times += (None if each.time_us is None else each.count * each.time_us for each in kernel.launches)
        known = [time for time in times if time is not None]
        whole = digest(repr(sorted(by_key.items())).encode())
        return cls(path, sum(known) if known and len(known) == len(times) else None, whole, by_key)

    def __bool__(self) -> bool:
        return bool(self._by_key)

    def of_function(self, linkage_name: str, name: str) -> RecordedKernel | None:
        """The kernel that a function is, by what it is called in compiled code, or by its plain name where no more of
        it was recorded."""
        if linkage_name:
            for key in (key_of(linkage_name), hidden(linkage_name)):
                if key in self._by_key:
                    return self._by_key[key]
        return self._by_key.get(name)

    def has_of_name(self, name: str) -> bool:
        """Whether there is a kernel of a plain name, whatever it takes."""
        part = f"{len(name)}{name}"
        names = (key.removeprefix(_MANGLED) for key in self._by_key if key.startswith(_MANGLED))
        return any(own.startswith(part) for own in names)


def _together(one: RecordedKernel, other: RecordedKernel) -> RecordedKernel:
    """Recorded twice. Of those with other parameters the ones with arguments count."""
    if one.parameters == other.parameters:
        return RecordedKernel(one.symbol, _summed((*one.launches, *other.launches)), one.name, one.parameters)
    return one if one.parameters is not None else other


def _summed(launches: Sequence[RecordedLaunch]) -> tuple[RecordedLaunch, ...]:
    """Each once."""
    found: dict[object, RecordedLaunch] = {}
    for each in launches:
        key = each.grid, each.block, each.shared, each.arguments, each.cluster, each.cooperative
        found.setdefault(key, each)
    return tuple(found.values())


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
