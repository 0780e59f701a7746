"""What is known of a file that an editor holds, made in a worker: the report of a check, and texts to be shown where
the reader points at.

Findings come first. What it takes longest to find out is which edits hold: where that is still open, an edit is only
words until somebody asks for more (`Asked.tries_edits`), which may be abandoned for another analysis at any point.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.diagnostics import Edit
from cudalint.editor.keeping import Keeping, Memory
from cudalint.editor.texts import access_text, kernel_text, kernel_title
from cudalint.facts import FileFacts, KernelFacts, Place
from cudalint.hardware.features import target_for
from cudalint.hardware.targets import find_target
from cudalint.kinds import Kinds
from cudalint.report.findings.results import Failure, FileReport
from cudalint.run.file_facts import analyse
from cudalint.run.file_findings import Draft, joint_edits, nothing_tried
from cudalint.run.job import CheckJob
from cudalint.run.stopwatch import Stopwatch
from cudalint.system.disk import recorder as disk
from cudalint.system.disk.present import Present
from cudalint.system.processes.time_limit import abandonable

_SHOWN: Kinds = frozenset({"accesses", "occupancy", "costs"})
"""The kinds of facts that are shown, whether a rule reads them or not."""
_MOST_ANSWERS = 4
"""Of one file: its text as it is, and as it was when the last edits are taken back."""


class Asked(Struct, frozen=True):
    """What a worker is to do; travels to it."""

    job: CheckJob
    """The file's text is among its options."""
    tries_edits: bool = False
    """Whether edits are tried, too."""
    together: tuple[tuple[Edit, ...], ...] = ()
    """Sets of edits that findings suggest, of which it is asked which hold when all are made."""


class Hover(Struct, frozen=True):
    """A place and what is shown of it, in Markdown."""

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
    is_open: bool = False
    """Whether edits have yet to be tried."""
    together: tuple[tuple[Edit, ...], ...] = ()
    """The sets of those that were asked for that hold when all are made."""


class _Answer(Struct, eq=False):
    """What came of a text, and what it takes to try its edits, while these are open."""

    job: CheckJob
    analysed: Analysed
    draft: Draft | None

    def close(self, report: FileReport) -> None:
        self.analysed, self.draft = replace(self.analysed, report=report, is_open=False), None


class _OfFile(Struct, eq=False):
    """What is kept of one file."""

    memory: Memory = field(default_factory=Memory)
    answers: list[_Answer] = field(default_factory=list)
    """The last one first."""

    def answer(self, job: CheckJob) -> _Answer | None:
        """What came of the very same text before."""
        known = next((answer for answer in self.answers if answer.job == job), None)
        if known is not None:
            self.answers.remove(known)
            self.answers.insert(0, known)
            known.analysed = replace(known.analysed, kept=len(known.analysed.kernels))
        return known

    def add(self, answer: _Answer) -> None:
        self.answers.insert(0, answer)
        del self.answers[_MOST_ANSWERS:]


class _Memories:
    """What this process keeps between analyses, and what that rests on."""

    def __init__(self) -> None:
        self._seen = disk.Seen()
        self._of: dict[str, _OfFile] = {}

    def of(self, path: str) -> _OfFile:
        """What is kept for a file; nothing once anything on disk has changed that was asked of it for any file."""
        others = {other: text for other, text in self._seen.texts.items() if other not in self._of}
        if not (self._seen.is_repeatable and Present().agrees_with(replace(self._seen, texts=others))):
            self.forget()
        return self._of.setdefault(path, _OfFile())

    def add(self, seen: disk.Seen) -> None:
        self._seen.add(seen)

    def forget(self) -> None:
        disk.forget()
        self._seen = disk.Seen()
        self._of.clear()


_memories = _Memories()


def answered(asked: Asked) -> Analysed:
    """What is known of a file as far as it is asked for. What of it hasn't changed since the last time is kept."""
    of_file = _memories.of(asked.job.path)
    with disk.noting() as seen:
        known = of_file.answer(asked.job) or _looked_at(asked.job, of_file)
        if known.draft is not None:
            # Since then the same edits may have been tried in another text.
            _preview(known, known.draft)
        if asked.tries_edits and known.draft is not None:
            with abandonable():
                report = _finished(known.draft)
            known.close(report)
        held = tuple(joint_edits(asked.job, asked.together)) if asked.together else ()
    _memories.add(seen)
    files = frozenset(map(os.path.abspath, {*seen.texts, *seen.kinds}))
    known.analysed = replace(known.analysed, files=known.analysed.files | files)
    return replace(known.analysed, together=held) if held else known.analysed


def analysed(job: CheckJob) -> Analysed:
    """All that is known of a file in the end."""
    return answered(Asked(job, tries_edits=True))


def _looked_at(job: CheckJob, of_file: _OfFile) -> _Answer:
    memory = of_file.memory
    text = dict(job.options.unsaved)[job.path]
    with disk.noting() as seen:
        draft, found = _drafted(job, Keeping(memory, job.path, text))
    answer = _Answer(job, replace(found, kept=memory.used), draft)
    if not seen.is_timed:
        of_file.add(answer)
    return answer


def _preview(answer: _Answer, draft: Draft) -> None:
    """What can be shown by now."""
    with _going_on(draft):
        preview = draft.preview()
        if preview is None:
            answer.close(draft.report())
        else:
            answer.analysed = replace(answer.analysed, report=preview)


def _finished(draft: Draft) -> FileReport:
    with _going_on(draft):
        return draft.report()


@contextmanager
def _going_on(draft: Draft) -> Iterator[None]:
    draft.stopwatch.go_on()
    try:
        yield
    finally:
        draft.stopwatch.pause()


def _drafted(job: CheckJob, keeper: Keeping | None) -> tuple[Draft | None, Analysed]:
    """What is known without edits, and what it takes to try these."""
    stopwatch = Stopwatch()
    job = replace(job, options=replace(job.options, kinds=job.kinds() | _SHOWN))
    facts = analyse(job.path, job.options, keeper=keeper)
    if isinstance(facts, Failure):
        return None, Analysed(facts)
    draft = Draft.of(facts, job, stopwatch, nothing_tried if keeper is None else keeper.tried_in)
    stopwatch.pause()
    shown = tuple(_accesses(facts, keeper)), tuple(_kernels(facts, job.options.target))
    return draft, Analysed(Failure(job.path, ""), *shown, is_open=True)


def _accesses(facts: FileFacts, keeper: Keeping | None) -> Iterator[Hover]:
    """What is shown of each access, once for all instantiations in which it costs the same."""
    shown: dict[Hover, None] = {}
    for kernel in facts.kernels:
        made = partial(_accesses_of, kernel)
        shown |= dict.fromkeys(made() if keeper is None else keeper.shown(kernel, made))
    return iter(shown)


def _accesses_of(kernel: KernelFacts) -> tuple[Hover, ...]:
    return tuple(Hover(access.place, access_text(access, kernel)) for access in kernel.accesses)


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
