"""What commands share that show what the analysis knows of files: each file goes through a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct

from cudalint.cli import FAILED, NOTHING_FOUND
from cudalint.cli.analysis_options import limits_from, settings_from
from cudalint.cli.terminal import print_failures
from cudalint.cli.warnings import warn_of_options, warn_of_settings
from cudalint.facts import FileFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.project.discovery import discover
from cudalint.report.findings.results import Failure, are_errors
from cudalint.run.file_facts import analyse
from cudalint.run.limits import Lost
from cudalint.run.runs import configure, run_all

T = TypeVar("T")


class Job(Struct, Generic[T], frozen=True):
    """One file to be described; travels to a worker."""

    path: str
    options: AnalysisOptions
    shown: Callable[[FileFacts, AnalysisOptions], T]
    """Makes of the facts what is shown, in the worker: it is smaller than they are."""


class Described(Struct, Generic[T], frozen=True):
    """What is shown of one file, and what else was asked for it and could not be had."""

    value: T
    failures: tuple[Failure, ...]
    parameters: frozenset[tuple[str, str]]


def describe(job: Job[T]) -> Described[T] | Failure:
    facts = analyse(job.path, job.options)
    if isinstance(facts, Failure):
        return facts
    failures = tuple(Failure.of(job.path, each) for each in facts.failures)
    return Described(job.shown(facts, job.options), failures, facts.parameters)


class Describing:
    """One run of such a command, from its options to its exit status."""

    def __init__(self, paths: Sequence[str], values: dict[str, Any]) -> None:
        """Raises a usage error, or ConfigError, for options that can't be used."""
        self._values = values
        self.settings, self._limits = settings_from(values), limits_from(values)
        found = discover(paths, self.settings.excludes, values["force_exclude"])
        self.configured, broken = configure(found.files, self.settings)
        self._failures = [*found.failures, *broken]
        self._parameters: set[tuple[str, str]] = set()

    def answers(self, jobs: Sequence[Job[T]]) -> Iterator[T | Failure]:
        """What could not be read, then what is shown of each job or why there is nothing, in the order of the jobs, as
        soon as those before it are there."""
        yield from self._failures
        early: dict[int, Described[T] | Failure] = {}
        turn = 0
        for index, value in run_all(describe, jobs, self._limits):
            early[index] = Failure(jobs[index].path, value.reason) if isinstance(value, Lost) else value
            while turn in early:
                answer = self._noted(early.pop(turn))
                yield answer
                turn += 1

    def _noted(self, answer: Described[T] | Failure) -> T | Failure:
        if isinstance(answer, Failure):
            self._failures.append(answer)
            return answer
        self._failures += answer.failures
        self._parameters |= answer.parameters
        return answer.value

    def status(self) -> int:
        """The exit status, once all output is written. What went wrong is printed on stderr."""
        warn_of_options(self._values, self._parameters)
        warn_of_settings((each.file.path for each in self.configured), self.settings)
        print_failures(dict.fromkeys(self._failures))
        return FAILED if are_errors(self._failures) else NOTHING_FOUND
