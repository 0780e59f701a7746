"""`cudalint facts`: what the analysis knows, before any rule has an opinion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import click
from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.cli import FAILED, NOTHING_FOUND, completion
from cudalint.cli.analysis_options import analysis_options, limits_from, settings_from
from cudalint.cli.headed import HeadedCommand
from cudalint.cli.terminal import output_style, print_failures, write_lines, write_text
from cudalint.cli.warnings import warn_of_options, warn_of_settings
from cudalint.kinds import SHOWN_KINDS, Kinds, shown_kinds
from cudalint.options.analysis import AnalysisOptions
from cudalint.project.discovery import discover
from cudalint.report.findings.results import Failure, are_errors
from cudalint.report.formats.style import Style
from cudalint.run.file_facts import analyse
from cudalint.run.limits import Limits, Lost
from cudalint.run.runs import configure, run_all, target_of


class FactsJob(Struct, frozen=True):
    """One file to describe; the worker renders it, since the text is smaller than the facts."""

    path: str
    options: AnalysisOptions
    style: Style | None
    """For the text format; None asks for JSON."""


class Described(Struct, frozen=True):
    """The text of one file, and what else was asked for it and could not be had."""

    text: str
    failures: tuple[Failure, ...]
    parameters: frozenset[tuple[str, str]]


def describe_file(job: FactsJob) -> Described | Failure:
    facts = analyse(job.path, job.options)
    if isinstance(facts, Failure):
        return facts
    failures = tuple(Failure.of(job.path, each) for each in facts.failures)
    if job.style is None:
        from cudalint.report.formats import facts_json

        return Described(facts_json.file_text(facts), failures, facts.parameters)
    from cudalint.report.formats import facts_text

    return Described("\n".join(facts_text.render(facts, job.style)), failures, facts.parameters)


@click.command("facts", cls=HeadedCommand)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=completion.files)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="A table for each kernel, or JSON for programs.",
)
@click.option(
    "--only",
    callback=lambda context, parameter, value: _kinds(value),
    metavar="KIND,...",
    shell_complete=completion.kinds,
    help=f"Collect facts of these kinds alone, which is faster: {', '.join(sorted(SHOWN_KINDS))}. All are in JSON, "
    "accesses and occupancy in text.",
)
@click.option("--color/--no-color", default=None, help="Use colours.  [default: in a terminal]")
@analysis_options
def command(paths: Sequence[str], format_: str, only: Kinds, color: bool | None, **values: Any) -> int:
    """Print the figures of every memory access of every kernel.

    What --only leaves out is null in JSON.

    Exit status: 0, or 2 where something could not be analysed.

    \b
    Examples:
      cudalint facts kernels/tile.cu
      cudalint facts src --format json > facts.json
      cudalint facts src --only occupancy
      cudalint facts a.cu --block 32,8 --param N=4096 --assume 'K % 4 == 0'
    """
    settings, limits = settings_from(values), limits_from(values)
    found = discover(paths, settings.excludes, values["force_exclude"])
    configured, broken = configure(found.files, settings)
    style = None if format_ == "json" else output_style(color)
    jobs = [FactsJob(each.file.path, replace(each.options, kinds=only), style) for each in configured]
    noted = _Noted()
    answers = noted.passing(chain(found.failures, broken, _answers(jobs, limits)))
    if style is not None:
        write_text(_text_lines(answers))
    else:
        write_lines(_json_lines(answers, target_of(configured, settings)))
    warn_of_options(values, noted.parameters)
    warn_of_settings((each.file.path for each in configured), settings)
    print_failures(noted.failures)
    return FAILED if are_errors(noted.failures) else NOTHING_FOUND


def _kinds(text: str | None) -> Kinds:
    """What `--only` names."""
    try:
        return SHOWN_KINDS if text is None else shown_kinds(text.split(","))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _answers(jobs: Sequence[FactsJob], limits: Limits) -> Iterator[Described | Failure]:
    """The text of each file, in the order of the files, as soon as those before it are there."""
    early: dict[int, Described | Failure] = {}
    turn = 0
    for index, value in run_all(describe_file, jobs, limits):
        early[index] = Failure(jobs[index].path, value.reason) if isinstance(value, Lost) else value
        while turn in early:
            yield early.pop(turn)
            turn += 1


class _Noted(Struct):
    """What is to be said in the end, kept while answers pass, so that output can be written as it comes."""

    failures: list[Failure] = field(default_factory=list)
    parameters: set[tuple[str, str]] = field(default_factory=set)

    def passing(self, answers: Iterable[Described | Failure]) -> Iterator[Described | Failure]:
        for answer in answers:
            if isinstance(answer, Failure):
                self.failures.append(answer)
            else:
                self.failures += answer.failures
                self.parameters |= answer.parameters
            yield answer


def _text_lines(answers: Iterable[Described | Failure]) -> Iterator[str]:
    return (answer.text for answer in answers if isinstance(answer, Described))


def _json_lines(answers: Iterable[Described | Failure], target: str) -> Iterator[str]:
    from cudalint.report.formats.facts_json import document_lines, failure_text

    texts = (failure_text(answer) if isinstance(answer, Failure) else answer.text for answer in answers)
    return document_lines(target, texts)
