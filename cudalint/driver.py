"""Hands files to workers and puts their answers together, for `check` and for `facts`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from cudalint.discovery import SourceFile
from cudalint.engine import CheckJob, check_file
from cudalint.merging import gather, is_covered
from cudalint.options import AnalysisOptions
from cudalint.pool import Done, Limits, Lost, run_jobs
from cudalint.registry import Selection
from cudalint.results import CheckResult, Failure, FileReport, total_coverage

Job = TypeVar("Job")
Result = TypeVar("Result")

OnDone = Callable[[str], None]
"""Is told the path of each file that is done."""


def check_files(
    files: Sequence[SourceFile],
    options: AnalysisOptions,
    selection: Selection,
    limits: Limits,
    *,
    pictures: bool = False,
    on_done: OnDone = lambda path: None,
) -> CheckResult:
    """Lints files. Headers that only a folder brought in are linted if no other file has included them."""
    reports: list[FileReport] = []
    failures: list[Failure] = []

    def run(batch: Sequence[SourceFile]) -> None:
        jobs = [CheckJob(f.path, options_for(f, options), selection, pictures) for f in batch]
        for index, value in run_all(check_file, jobs, limits):
            path = batch[index].path
            if isinstance(value, FileReport):
                reports.append(value)
            else:
                failures.append(value if isinstance(value, Failure) else Failure(path, value.reason))
            on_done(path)

    run([file for file in files if not file.is_optional])
    run([file for file in files if file.is_optional and not is_covered(file.path, reports)])
    return CheckResult(
        target=options.target,
        diagnostics=gather(reports),
        failures=tuple(sorted(failures, key=lambda failure: failure.path)),
        files=len(reports) + len(failures),
        coverage=total_coverage(report.coverage for report in reports),
    )


def options_for(file: SourceFile, options: AnalysisOptions) -> AnalysisOptions:
    """The options for one file, which carry its text if it has no other place."""
    if file.text is None:
        return options
    return dataclasses.replace(options, unsaved=(*options.unsaved, (file.path, file.text)))


def run_all(
    function: Callable[[Job], Result], jobs: Sequence[Job], limits: Limits
) -> Iterator[tuple[int, Result | Lost]]:
    """Runs jobs in workers and yields each one's index with its result, or what became of it."""
    for outcome in run_jobs(function, jobs, limits):
        yield outcome.index, outcome.value if isinstance(outcome, Done) else outcome
