"""Launches as a profiler lists them, one by one, gathered into a recording."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec
import numpy as np

from cudalint.launches.recorded.merging import merged
from cudalint.launches.recorded.names import base_name
from cudalint.launches.recorded.records import (
    MOST_LETTERS,
    VERSION,
    Extents,
    RecordedKernel,
    RecordedLaunch,
    Recording,
)

MOST_DIFFERENT: Final = 100_000
"""Different launches that are kept, no more than a file holds of one kernel."""
_DEFAULT_STREAM: Final = 7
"""What CUPTI, and so every profiler that rests on it, calls the default stream of a process's first context."""
_MOST_TIME_NS: Final = 10**18
_LATEST_NS: Final = 8 * 10**18
_MOST_SHARED: Final = 1 << 30
_LARGEST_GRID: Final = ((1 << 31) - 1, 65_535, 65_535)
_LARGEST_BLOCK: Final = (1024, 1024, 64)
_MOST_THREADS: Final = 1024
_MOST_IN_CLUSTER: Final = 16
"""Blocks, where a kernel allows more than the eight that are portable."""
_NS_PER_US: Final = 1000


class Made(NamedTuple):
    """How a launch was made, as a profiler says it: numbers may be anything that can be hashed."""

    mangled: str
    demangled: str
    grid: tuple[object, ...]
    block: tuple[object, ...]
    shared: object
    """Bytes of dynamic shared memory, with the kernel's own where `has_static`."""
    stream: tuple[object, ...]
    """Whatever tells streams apart, its number last; None for that where it isn't known."""
    has_static: bool = False
    cluster: tuple[object, ...] = ()
    cooperative: bool = False


class Slot:
    """Launches that were made in the same way."""

    def __init__(self, kernel: tuple[str, str], launch: RecordedLaunch, stream: tuple[object, ...]) -> None:
        self.kernel = kernel
        self.launch = launch
        self.stream = stream
        self.count = 0
        self.timed = 0
        self.time_ns = 0
        self.first = 0


class Gathered:
    """All launches of an export so far."""

    def __init__(self) -> None:
        self.left_out = 0
        self._slots: dict[Made, Slot] = {}
        self._starts = array("q")

    def slot(self, made: Made) -> Slot | None:
        """Where launches that were made so belong; None for what no GPU can launch, and beyond the limit."""
        found = self._slots.get(made)
        if found is None and len(self._slots) < MOST_DIFFERENT:
            found = _slot(made)
            if found is not None:
                self._slots[made] = found
        return found

    def add(self, slot: Slot | None, start_ns: object, time_ns: object) -> None:
        """One launch more; without a time where nobody has taken it."""
        if slot is None or not (isinstance(start_ns, int) and 0 <= start_ns <= _LATEST_NS):
            self.left_out += 1
            return
        if time_ns is not None:
            if not (isinstance(time_ns, int) and 0 <= time_ns <= _MOST_TIME_NS):
                self.left_out += 1
                return
            slot.timed += 1
            slot.time_ns += time_ns
        if start_ns < slot.first or not slot.count:
            slot.first = start_ns
        slot.count += 1
        self._starts.append(start_ns)

    def recording(self, devices: Iterable[str]) -> Recording:
        """Everything that was added."""
        slots = sorted((slot for slot in self._slots.values() if slot.count), key=lambda slot: slot.first)
        starts = np.sort(np.frombuffer(self._starts, dtype=np.int64)) if self._starts else np.zeros(0, np.int64)
        streams: dict[tuple[object, ...], int] = {}
        kernels: dict[tuple[str, str], list[RecordedLaunch]] = {}
        for slot in slots:
            is_default = slot.stream[-1] in (None, _DEFAULT_STREAM)
            stream = 0 if is_default else streams.setdefault(slot.stream, len(streams) + 1)
            launch = msgspec.structs.replace(
                slot.launch,
                count=slot.count,
                stream=stream,
                order=int(np.searchsorted(starts, slot.first)),
                time_us=slot.time_ns / (slot.timed * _NS_PER_US) if slot.timed else None,
            )
            kernels.setdefault(slot.kernel, []).append(launch)
        made = tuple(RecordedKernel(symbol, tuple(own), name) for (symbol, name), own in kernels.items())
        device = ", ".join(sorted({name.strip() for name in devices if name.strip()}))[:MOST_LETTERS]
        return merged([Recording(VERSION, made, device, self.left_out)])


def _slot(made: Made) -> Slot | None:
    grid, block = _extents(made.grid, _LARGEST_GRID), _extents(made.block, _LARGEST_BLOCK)
    if grid is None or block is None or block[0] * block[1] * block[2] > _MOST_THREADS:
        return None
    if not _is_within(made.shared, 0, _MOST_SHARED):
        return None
    clustered = any(each not in (None, 0, 1) for each in made.cluster)
    cluster = _extents(made.cluster, (_MOST_IN_CLUSTER,) * 3) if clustered else None
    if clustered and cluster is None:
        return None
    kernel = names_of(made.mangled, made.demangled)
    if not 0 < len(kernel[0]) <= MOST_LETTERS:
        return None
    assert isinstance(made.shared, int)
    launch = RecordedLaunch(1, grid, block, made.shared, cluster=cluster, cooperative=made.cooperative)
    if made.has_static and made.shared:
        launch = msgspec.structs.replace(launch, has_static=True)
    return Slot(kernel, launch, made.stream)


def names_of(mangled: str, demangled: str) -> tuple[str, str]:
    """The symbol of a kernel, which is its plain name where a profiler has kept no other, and how the source calls
    it."""
    if not mangled and demangled.startswith("_Z"):
        mangled, demangled = demangled, ""
    symbol = mangled or base_name(demangled)
    return symbol, demangled[:MOST_LETTERS] if demangled != symbol else ""


def _extents(values: tuple[object, ...], largest: tuple[int, int, int]) -> Extents | None:
    if len(values) != len(largest):
        return None
    if not all(_is_within(value, 1, most) for value, most in zip(values, largest, strict=True)):
        return None
    x, y, z = values
    assert isinstance(x, int) and isinstance(y, int) and isinstance(z, int)
    return x, y, z


def _is_within(value: object, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most
