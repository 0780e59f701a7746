"""Hands files to workers and puts their answers together, for `check` and for `facts`."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic
from cudalint.options.analysis import AnalysisOptions
from cudalint.project.config import ConfigError
from cudalint.project.discovery import SourceFile
from cudalint.project.settings import FileSettings, Settings
from cudalint.report.findings.merging import covered_by, gather, gather_suppressed, kernels_of
from cudalint.report.findings.results import CheckResult, Failure, FileReport, Note, total_coverage
from cudalint.report.findings.showing import with_worlds
from cudalint.run.job import CheckJob
from cudalint.run.kept import Checked, KeptJob, Results, check_and_keep
from cudalint.run.limits import Done, Limits, Lost
from cudalint.run.pool import JobWatcher, run_jobs
from cudalint.run.watching import Watcher
from cudalint.run.weighing import weighed_together
from cudalint.system.processes.faults import described
from cudalint.system.processes.timings import Timings

Job = TypeVar("Job")
Result = TypeVar("Result")


def result_of(reports: Sequence[FileReport], failures: Sequence[Failure], target: str) -> CheckResult:
    """What the reports and failures of some files come to; a report may name failures of its own."""
    linted = len(reports) + len(failures)
    own = [Failure.of(report.path, each) for report in reports for each in report.failures]
    least = max((report.min_share for report in reports), default=0.0)
    weighed = weighed_together(_together(gather, reports, own), least)
    diagnostics = [with_worlds(diagnostic, least) for diagnostic in weighed]
    suppressed = _together(gather_suppressed, reports, own)
    return CheckResult(
        target=target,
        diagnostics=tuple(d for d in diagnostics if d.held_back is None),
        minor=tuple(d for d in diagnostics if d.held_back is not None),
        min_share=least,
        suppressed=suppressed,
        failures=tuple(sorted((*failures, *own), key=lambda failure: failure.path)),
        files=linted,
        paths=tuple(sorted(report.path for report in reports)),
        parameters=frozenset(pair for report in reports for pair in report.parameters),
        coverage=total_coverage(report.coverage for report in reports),
        notes=tuple(sorted(Note(report.path, report.note) for report in reports if report.note)),
        kernels=kernels_of(reports),
    )


def _together(
    gathered: Callable[[Sequence[FileReport]], tuple[Diagnostic, ...]],
    reports: Sequence[FileReport],
    failures: list[Failure],
) -> tuple[Diagnostic, ...]:
    """The findings of several reports. Where they can't be put together, a report that can't be taken by itself is left
    out, or all are taken by themselves; `failures` says so."""
    try:
        return gathered(reports)
    except Exception as error:
        reason = described(error)
    alone: list[tuple[Diagnostic, ...]] = []
    fit: list[FileReport] = []
    for report in reports:
        try:
            alone.append(gathered([report]))
            fit.append(report)
        except Exception as error:
            failures.append(Failure(report.path, f"its findings are left out: {described(error)}"))
    if len(fit) < len(reports):
        return _together(gathered, fit, failures)
    failures.append(Failure(fit[0].path, f"findings in what it shares with other files may come twice: {reason}"))
    return tuple(diagnostic for found in alone for diagnostic in found)


@contextmanager
def _temporary_folder() -> Iterator[str | None]:
    """None where the system has no place for one."""
    from tempfile import TemporaryDirectory

    try:
        folder = TemporaryDirectory(prefix="cudalint-", ignore_cleanup_errors=True)
    except OSError:
        yield None
        return
    with folder as name:
        yield name


class Lint(Struct, frozen=True, eq=False):
    """How files are linted."""

    limits: Limits
    pictures: bool = False
    counts_accesses: bool = False
    cache: str | None = None
    """The folder in which results are kept and looked for."""
    watcher: Watcher | None = None
    preloads: bool = False
    """Whether this process may import what workers need, and set its environment for that: not where it is somebody
    else's."""
    most_findings: int | None = None
    """For one file."""
    timings: Timings | None = None
    """Takes down how long files took."""
    shows_kernels: bool = False
    """Whether a report shows the kernels, whatever the rules find."""
    tries_edits: bool = True
    """Whether anybody asks for edits: to try them takes about as long as to find what they are for."""

    def reports(self, configured: Sequence[Configured]) -> tuple[list[FileReport], list[Failure]]:
        """What comes of files, once all are done."""
        answers = list(self.answers(configured))
        return (
            [answer for answer in answers if isinstance(answer, FileReport)],
            [answer for answer in answers if isinstance(answer, Failure)],
        )

    def answers(self, configured: Sequence[Configured]) -> Generator[FileReport | Failure]:
        """What comes of each file, as they get done. Headers that only a folder brought in are linted if no other file
        has included them."""
        # Files may have kernels in common; where there is a cache, that is the place for them.
        with _temporary_folder() if self.cache is None and len(configured) > 1 else nullcontext() as kernels:
            yield from self._answers(configured, Results(self.cache, kernels))

    def _answers(self, configured: Sequence[Configured], results: Results) -> Iterator[FileReport | Failure]:
        reports: list[FileReport] = []
        settings = {each.file.path: each.settings for each in configured}
        for is_optional in (False, True):
            batch = [each for each in configured if each.file.is_optional == is_optional]
            if is_optional:
                is_covered = covered_by(reports)
                batch = [each for each in batch if not is_covered(each.file.path)]
            for path, found in self._batch(batch, results):
                answer = found
                if isinstance(answer, FileReport):
                    own = settings[answer.path]
                    answer = own.severities.applied_to(answer).with_least(own.min_share)
                    reports.append(answer)
                if self.watcher is not None:
                    self.watcher.done(path, answer)
                yield answer

    def _batch(self, batch: Sequence[Configured], results: Results) -> Iterator[tuple[str, FileReport | Failure]]:
        jobs: list[KeptJob] = []
        for each in batch:
            job = results.job(self.job(each))
            known = results.report(job)
            if known is None:
                jobs.append(job)
            else:
                if self.timings is not None:
                    self.timings.from_cache += 1
                yield known.path, known
        # One that is begun last is waited for by all workers but its own.
        jobs.sort(key=lambda job: -_size(job.job))
        paths = [job.job.path for job in jobs]
        needed = _NEEDED if self.preloads else ()
        for index, value in run_all(check_and_keep, jobs, self.limits, needed, _by_path(self.watcher, paths)):
            if self.timings is not None:
                self.timings.note(paths[index], value.times if isinstance(value, Checked) else None)
            yield paths[index], value.answer if isinstance(value, Checked) else Failure(paths[index], value.reason)
        if jobs:
            results.tidy()

    def job(self, each: Configured) -> CheckJob:
        known = each.settings
        return CheckJob(
            each.file.path, each.options, known.selection, self.pictures, known.thresholds, known.ignores,
            self.counts_accesses, most_findings=self.most_findings,
            shows_kernels=self.shows_kernels, tries_edits=self.tries_edits,
            severities=known.severities, min_share=known.min_share,
        )  # fmt: skip


def _size(job: CheckJob) -> int:
    """Of a file's text, which tells more or less how long it takes."""
    text = dict(job.options.unsaved).get(job.path)
    if text is not None:
        return len(text)
    try:
        return os.stat(job.path).st_size
    except OSError:
        return 0


class Configured(NamedTuple):
    """A file and what is in force for it. The options carry the file's text if it has no other place."""

    file: SourceFile
    settings: FileSettings
    unsaved: tuple[tuple[str, str], ...] = ()
    """Texts that stand in for other files, by their paths."""

    @property
    def options(self) -> AnalysisOptions:
        options = self.settings.options
        own = () if self.file.text is None else ((self.file.path, self.file.text),)
        return replace(options, unsaved=(*options.unsaved, *self.unsaved, *own))


def configure(files: Sequence[SourceFile], settings: Settings) -> tuple[list[Configured], list[Failure]]:
    """Each file with its settings; files below a configuration that can't be used are left out, for one failure. A file
    of recorded launches that can't be used is one failure, too, and nothing else is left out for it."""
    configured: list[Configured] = []
    unusable: dict[str, str] = {}
    broken: dict[str, Failure] = {}
    for file in files:
        try:
            configured.append(Configured(file, settings.of(file.path)))
        except ConfigError as error:
            broken[error.path] = Failure(error.path, error.message)
        else:
            unusable |= configured[-1].settings.unusable
    return configured, [*broken.values(), *(Failure(path, reason) for path, reason in unusable.items())]


def target_of(configured: Sequence[Configured], settings: Settings) -> str:
    """The target of a run, for the head of a report; the files may have several, if configurations differ."""
    targets = dict.fromkeys(each.settings.options.target for each in configured)
    given = settings.command_line
    return ", ".join(targets) or given.target or given.options.target


class Run:
    """A run over files that can be looked at, and left, before it is done."""

    def __init__(
        self, lint: Lint, configured: Sequence[Configured], failures: Sequence[Failure], target: str
    ) -> None:
        """`failures` are those that are known before any file is linted."""
        self.reports: list[FileReport] = []
        self.failures = list(failures)
        self.target = target
        self.total = len(configured)
        self.is_done = False
        self._files = [each.file for each in configured]
        self._answers = lint.answers(configured)

    def __iter__(self) -> Iterator[FileReport | Failure]:
        """What comes of each file, as they get done; of a run that was left, of those that are still to be linted."""
        for answer in self._answers:
            if isinstance(answer, FileReport):
                self.reports.append(answer)
            else:
                self.failures.append(answer)
            yield answer
        self.is_done = True

    def finish(self) -> None:
        """Lints what is left."""
        for _ in self:
            pass

    def leave(self) -> None:
        """Ends the workers; what is there stays."""
        self._answers.close()

    def left(self) -> list[str]:
        """The files of a run that was left of which nothing is known, not even through files that include them."""
        if self.is_done:
            return []
        known = {report.path for report in self.reports} | {failure.path for failure in self.failures}
        others = [file for file in self._files if file.path not in known]
        is_covered = covered_by(self.reports)
        return [file.path for file in others if not file.is_optional or not is_covered(file.path)]

    def result(self) -> CheckResult:
        """What all files come to that are done. Those that are not are failures of a run that was left."""
        unfinished = [Failure(path, UNFINISHED) for path in self.left()]
        return result_of(self.reports, [*self.failures, *unfinished], self.target)


UNFINISHED = "not linted: the run was interrupted before"
_NEEDED = ("cudalint.run.analysis",)
"""What every worker imports."""


def _by_path(watcher: Watcher | None, paths: Sequence[str]) -> JobWatcher | None:
    return None if watcher is None else _ByPath(watcher, paths)


class _ByPath:
    """Tells a watcher of files what becomes of jobs."""

    def __init__(self, watcher: Watcher, paths: Sequence[str]) -> None:
        self._watcher, self._paths = watcher, paths

    def begun(self, index: int) -> None:
        self._watcher.begun(self._paths[index])

    def at(self, index: int, words: str) -> None:
        self._watcher.at_kernel(self._paths[index], words)

    def waiting(self) -> None:
        self._watcher.waiting()


def run_all(
    function: Callable[[Job], Result],
    jobs: Sequence[Job],
    limits: Limits,
    needed: Sequence[str] = _NEEDED,
    watcher: JobWatcher | None = None,
) -> Iterator[tuple[int, Result | Lost]]:
    """Runs jobs in workers and yields each one's index with its result, or what became of it."""
    for outcome in run_jobs(function, jobs, limits, needed, watcher):
        yield outcome.index, outcome.value if isinstance(outcome, Done) else outcome
