"""What is known of a file that an editor holds, made in a worker: the report of a check, and texts to be shown where
the reader points at."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from cudalint.cache.checking import Present
from cudalint.disk import recorder as disk
from cudalint.driver.file_findings import CheckJob, Stopwatch, analyse, nothing_tried, report_on
from cudalint.editor.keeping import Keeping, Memory
from cudalint.editor.texts import access_text, kernel_text, kernel_title
from cudalint.facts import FileFacts, KernelFacts, Place
from cudalint.findings.results import Failure, FileReport
from cudalint.hardware.features import target_for
from cudalint.hardware.targets import find_target
from cudalint.kinds import Kinds

_SHOWN: Kinds = frozenset({"accesses", "occupancy", "costs"})
"""The kinds of facts that are shown, whether a rule reads them or not."""


class Hover(Struct, frozen=True):
    """A place and what is to be told of it, in Markdown."""

    place: Place
    text: str


class KernelHover(Struct, frozen=True):
    """A kernel, all of its instantiations together."""

    name: str
    place: Place
    """Of its name."""
    whole: Place
    """From the declaration's first token to the closing brace."""
    title: str
    """What it costs, in one line."""
    text: str
    """What it costs and what of it was evaluated, in Markdown."""
    launch: str | None
    """The arguments of a `launch` annotation that says what was made up; None for a kernel that something launches."""
    sizes: tuple[str, ...] = ()
    """The integers among its parameters, which an `assume` annotation may be about."""


class Analysed(Struct, frozen=True):
    """A file as it was when it was asked for."""

    report: FileReport | Failure
    accesses: tuple[Hover, ...] = ()
    kernels: tuple[KernelHover, ...] = ()
    files: frozenset[str] = frozenset()
    """What was looked at for it: headers, other files of the program, whatever else may be where one was looked for."""
    kept: int = 0
    """Kernels whose facts are those of an earlier analysis."""


class _Memories:
    """What this process keeps between analyses, and what that rests on."""

    def __init__(self) -> None:
        self._seen = disk.Seen()
        self._of: dict[str, Memory] = {}

    def of(self, path: str) -> Memory:
        """What is kept for a file; nothing once anything on disk has changed that was asked of it for any file."""
        others = {other: text for other, text in self._seen.texts.items() if other not in self._of}
        if not (self._seen.is_repeatable and Present().agrees_with(replace(self._seen, texts=others))):
            self.forget()
        return self._of.setdefault(path, Memory())

    def add(self, seen: disk.Seen) -> None:
        self._seen.add(seen)

    def forget(self) -> None:
        disk.forget()
        self._seen = disk.Seen()
        self._of.clear()


_memories = _Memories()


def analysed(job: CheckJob) -> Analysed:
    """Analyses a file, whose text is among the options. What of it hasn't changed since the last time is kept."""
    text = dict(job.options.unsaved)[job.path]
    memory = _memories.of(job.path)
    with disk.noting() as seen:
        found = _analysed(job, Keeping(memory, job.path, text))
    _memories.add(seen)
    return replace(found, files=frozenset(map(os.path.abspath, {*seen.texts, *seen.kinds})), kept=memory.used)


def _analysed(job: CheckJob, keeper: Keeping | None) -> Analysed:
    stopwatch = Stopwatch()
    job = replace(job, options=replace(job.options, kinds=job.kinds() | _SHOWN))
    facts = analyse(job.path, job.options, keeper=keeper)
    if isinstance(facts, Failure):
        return Analysed(facts)
    report = report_on(facts, job, stopwatch, nothing_tried if keeper is None else keeper.tried_in)
    return Analysed(report, tuple(_accesses(facts)), tuple(_kernels(facts, job.options.target)))


def _accesses(facts: FileFacts) -> Iterator[Hover]:
    """What is told of each access, once for all instantiations in which it costs the same."""
    told: dict[tuple[Place, str], None] = {}
    for kernel in facts.kernels:
        for access in kernel.accesses:
            told[access.place, access_text(access, kernel)] = None
    return (Hover(place, text) for place, text in told)


def _kernels(facts: FileFacts, target: str) -> Iterator[KernelHover]:
    by_place: dict[Place, list[KernelFacts]] = {}
    for kernel in facts.kernels:
        by_place.setdefault(kernel.name_place, []).append(kernel)
    return (_shown(place, kernels, target) for place, kernels in by_place.items())


def _shown(place: Place, kernels: Sequence[KernelFacts], configured: str) -> KernelHover:
    first = kernels[0]
    target = (target_for(find_target(configured), first.need) or find_target(configured)).name
    integers = [leaf for parameter in first.parameters for leaf in parameter.leaves if leaf.kind in ("int", "uint")]
    return KernelHover(
        first.name, place, first.place, kernel_title(kernels, target), kernel_text(kernels, target), _launch(first),
        tuple(leaf.name for leaf in integers),
    )  # fmt: skip


def _launch(kernel: KernelFacts) -> str | None:
    launch = kernel.launches[0] if kernel.launches else None
    if launch is None or launch.path is not None:
        return None  # A place says it.
    parts = [f"block = {_extents(launch.block)}", f"grid = {_extents(launch.grid)}"]
    if launch.dynamic_shared_bytes:
        parts.append(f"shared = {launch.dynamic_shared_bytes}")
    return ", ".join(parts)


def _extents(sizes: tuple[int, int, int]) -> str:
    x, y, z = sizes
    if (y, z) == (1, 1):
        return str(x)
    return f"dim3({x}, {y})" if z == 1 else f"dim3({x}, {y}, {z})"
