"""Where the time of a file goes: what a worker notes, and what it comes to for a run."""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final, Literal, get_args

from msgspec import Struct, field

from cudalint.numerals import count

Phase = Literal["parse", "host", "kernels", "figures", "races", "rules", "edits"]
"""Parsing and lowering; host code, with that of the program's other files; executions of kernels; figures of what they
did; order between threads; rules; and trials of the edits that rules suggest, with all that these take."""
PHASES: Final[tuple[Phase, ...]] = get_args(Phase)
_MOST = 10
"""Files and kernels that are listed."""


class FileTimes(Struct, frozen=True):
    """Seconds of computing that one file took."""

    total: float
    phases: Mapping[Phase, float]
    """What is in none is the program's own: imports, and the cache."""
    kernels: Mapping[str, float]
    """By name, all instantiations together: executions, figures and races."""


class _Clock:
    """Of the file that this process is at."""

    start = 0.0
    last = 0.0
    running: list[Phase] = []
    phases: defaultdict[Phase, float] = defaultdict(float)
    kernels: defaultdict[str, float] = defaultdict(float)


def begin() -> None:
    """Starts with a file."""
    _Clock.start = _Clock.last = time.process_time()
    _Clock.running, _Clock.phases, _Clock.kernels = [], defaultdict(float), defaultdict(float)


def taken() -> FileTimes:
    """What the file took until now."""
    return FileTimes(time.process_time() - _Clock.start, dict(_Clock.phases), dict(_Clock.kernels))


@contextlib.contextmanager
def timed(phase: Phase) -> Iterator[None]:
    """What runs in it belongs to this phase, but for what belongs to another within; a trial's parts are the trial."""
    if _Clock.running and _Clock.running[-1] == "edits":
        phase = "edits"
    _switch()
    depth = len(_Clock.running)
    _Clock.running.append(phase)
    try:
        yield
    finally:
        _switch()
        # Whatever was left from outside, at any point, has ended too.
        del _Clock.running[depth:]


def _switch() -> None:
    now = time.process_time()
    if _Clock.running:
        _Clock.phases[_Clock.running[-1]] += now - _Clock.last
    _Clock.last = now


@contextlib.contextmanager
def timed_kernel(name: str) -> Iterator[None]:
    """What runs in it is done for this kernel; trials of edits are no kernel's."""
    start = time.process_time()
    try:
        yield
    finally:
        if "edits" not in _Clock.running:
            _Clock.kernels[name] += time.process_time() - start


class Timings(Struct):
    """What a run took, gathered as its files get done."""

    start: float = field(default_factory=time.monotonic)
    files: list[tuple[str, FileTimes]] = field(default_factory=list)
    from_cache: int = 0
    unknown: int = 0
    """Files that were given up from outside."""

    def note(self, path: str, times: FileTimes | None) -> None:
        """A file is done; None if it was given up from outside."""
        if times is None:
            self.unknown += 1
        else:
            self.files.append((path, times))

    def lines(self, workers: int) -> Iterator[str]:
        """Where the time went, for people."""
        total = sum(times.total for _, times in self.files)
        waited = time.monotonic() - self.start
        yield (
            f"Time: {total:.2f} s of computing for {count(len(self.files), 'file')}, {waited:.2f} s of waiting "
            f"({count(workers, 'worker')}); {count(self.from_cache, 'file')} from the cache"
            + (f"; {count(self.unknown, 'file')} given up, of which nothing is known" if self.unknown else "")
        )
        spent: dict[str, float] = {phase: sum(t.phases.get(phase, 0.0) for _, t in self.files) for phase in PHASES}
        spent["other"] = max(0.0, total - sum(spent.values()))
        if total:
            yield from (f"{seconds:9.2f} s {seconds / total:6.1%}  {phase}" for phase, seconds in spent.items())
        slowest = sorted(self.files, key=lambda each: -each[1].total)[:_MOST]
        yield from _listed("files", [(times.total, path) for path, times in slowest])
        kernels = [(s, f"{name} ({path})") for path, times in self.files for name, s in times.kernels.items()]
        yield from _listed("kernels", sorted(kernels, reverse=True)[:_MOST])


def _listed(what: str, entries: list[tuple[float, str]]) -> Iterator[str]:
    if entries:
        yield f"The slowest {what}:"
        yield from (f"{seconds:9.2f} s  {name}" for seconds, name in entries)
