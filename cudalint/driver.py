"""Hands files to workers and puts their answers together, for `check` and for `facts`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from cudalint.cache.results import KeptJob, Results, check_and_keep
from cudalint.config import ConfigError
from cudalint.diagnostics import Diagnostic
from cudalint.discovery import SourceFile
from cudalint.engine import CheckJob
from cudalint.faults import described
from cudalint.merging import gather, gather_suppressed, is_covered
from cudalint.options import AnalysisOptions
from cudalint.pool import Done, Limits, Lost, run_jobs
from cudalint.results import CheckResult, Failure, FileReport, Note, total_coverage
from cudalint.settings import FileSettings, Settings

Job = TypeVar("Job")
Result = TypeVar("Result")

OnDone = Callable[[str], None]
"""Is told the path of each file that is done."""


def check_files(
    files: Sequence[SourceFile],
    settings: Settings,
    limits: Limits,
    *,
    pictures: bool = False,
    counts_accesses: bool = False,
    on_done: OnDone = lambda path: None,
    cache: str | None = None,
) -> CheckResult:
    """Lints files. `cache` is the folder in which results are kept and looked for."""
    configured, failures = configure(files, settings)
    lint = Lint(limits, pictures, counts_accesses, on_done, cache)
    reports, others = lint.reports(configured)
    return result_of(reports, [*failures, *others], target_of(configured, settings))


def result_of(reports: Sequence[FileReport], failures: Sequence[Failure], target: str) -> CheckResult:
    """What the reports and failures of some files come to; a report may name failures of its own."""
    linted = len(reports) + len(failures)
    own = [Failure(report.path, message) for report in reports for message in report.failures]
    diagnostics = _together(gather, reports, own)
    suppressed = _together(gather_suppressed, reports, own)
    return CheckResult(
        target=target,
        diagnostics=diagnostics,
        suppressed=suppressed,
        failures=tuple(sorted((*failures, *own), key=lambda failure: failure.path)),
        files=linted,
        paths=tuple(sorted(report.path for report in reports)),
        parameters=frozenset(pair for report in reports for pair in report.parameters),
        coverage=total_coverage(report.coverage for report in reports),
        notes=tuple(sorted(Note(report.path, report.note) for report in reports if report.note)),
    )


def _together(
    gathered: Callable[[Sequence[FileReport]], tuple[Diagnostic, ...]],
    reports: Sequence[FileReport],
    failures: list[Failure],
) -> tuple[Diagnostic, ...]:
    """The findings of several reports. Where they can't be put together, a report that can't be taken by itself is left
    out, or all are taken by themselves; `failures` is told."""
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


class Lint(Struct, frozen=True, eq=False):
    """How files are linted."""

    limits: Limits
    pictures: bool = False
    counts_accesses: bool = False
    on_done: OnDone = lambda path: None
    cache: str | None = None
    """The folder in which results are kept and looked for."""

    def reports(self, configured: Sequence[Configured]) -> tuple[list[FileReport], list[Failure]]:
        """Headers that only a folder brought in are linted if no other file has included them."""
        reports: list[FileReport] = []
        failures: list[Failure] = []
        results = Results(self.cache)
        severities = {each.file.path: each.settings.severities for each in configured}

        def keep(report: FileReport) -> None:
            reports.append(severities[report.path].applied_to(report))

        def run(batch: Sequence[Configured]) -> None:
            jobs: list[KeptJob] = []
            for each in batch:
                job = results.job(self.job(each))
                known = results.report(job)
                if known is None:
                    jobs.append(job)
                else:
                    keep(known)
                    self.on_done(known.path)
            for index, value in run_all(check_and_keep, jobs, self.limits):
                path = jobs[index].job.path
                if isinstance(value, FileReport):
                    keep(value)
                else:
                    failures.append(value if isinstance(value, Failure) else Failure(path, value.reason))
                self.on_done(path)
            if jobs:
                results.tidy()

        run([each for each in configured if not each.file.is_optional])
        run([each for each in configured if each.file.is_optional and not is_covered(each.file.path, reports)])
        return reports, failures

    def job(self, each: Configured) -> CheckJob:
        known = each.settings
        return CheckJob(
            each.file.path, each.options, known.selection, self.pictures, known.thresholds, known.ignores,
            self.counts_accesses,
        )  # fmt: skip


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
    """Each file with its settings; files below a configuration that can't be used are left out, for one failure."""
    configured: list[Configured] = []
    broken: dict[str, Failure] = {}
    for file in files:
        try:
            configured.append(Configured(file, settings.of(file.path)))
        except ConfigError as error:
            broken[error.path] = Failure(error.path, error.message)
    return configured, list(broken.values())


def target_of(configured: Sequence[Configured], settings: Settings) -> str:
    """The target of a run, for the head of a report; the files may have several, if configurations differ."""
    targets = dict.fromkeys(each.settings.options.target for each in configured)
    given = settings.command_line
    return ", ".join(targets) or given.target or given.options.target


def run_all(
    function: Callable[[Job], Result], jobs: Sequence[Job], limits: Limits
) -> Iterator[tuple[int, Result | Lost]]:
    """Runs jobs in workers and yields each one's index with its result, or what became of it."""
    for outcome in run_jobs(function, jobs, limits, ("cudalint.analysis",)):
        yield outcome.index, outcome.value if isinstance(outcome, Done) else outcome
