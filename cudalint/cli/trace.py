"""`cudalint trace`: what became of one line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click

from cudalint.cli import FAILED, NOTHING_FOUND, completion
from cudalint.cli.analysis_options import analysis_options, settings_from
from cudalint.cli.headed import HeadedCommand
from cudalint.cli.terminal import print_failures, write_text
from cudalint.numerals import count
from cudalint.options.analysis import AnalysisOptions
from cudalint.project.discovery import discover
from cudalint.project.settings import Settings
from cudalint.report.findings.results import Failure, are_errors
from cudalint.run.file_facts import analyse
from cudalint.run.runs import configure

_MOST_OTHERS = 4
"""Files that include the one of the line and are analysed for it: each takes as long as a file of a check."""


@click.command("trace", cls=HeadedCommand)
@click.argument("places", nargs=-1, required=True, metavar="FILE:LINE...", shell_complete=completion.files)
@analysis_options
def command(places: Sequence[str], **values: Any) -> int:
    """Print what became of a line: its code, its executions, what the compiler is taken to make of its accesses, the
    numbers that stand for what nobody gives, and the figures.

    For whoever doubts a figure, and for whoever reports one that is wrong. The line is one of the file itself. Where
    sources of the project include it, it is traced in these as well: they may launch its kernels with other numbers.

    Exit status: 0, or 2 where something could not be analysed.

    \b
    Examples:
      cudalint trace kernels/tile.cu:42
      cudalint trace a.cu:17 --block 32,8 --param N=4096
    """
    settings = settings_from(values)
    failures: list[Failure] = []
    for place in places:
        path, line = _parsed(place)
        found = discover([path], settings.excludes, True)
        configured, broken = configure(found.files, settings)
        failures += [*found.failures, *broken]
        for each in configured:
            write_text(_lines(each.file.path, line, each.options, failures))
            _write_through_others(each.file.path, line, settings, failures)
    print_failures(failures)
    return FAILED if are_errors(failures) else NOTHING_FOUND


def _parsed(place: str) -> tuple[str, int]:
    path, colon, line = place.rpartition(":")
    if not colon or not line.isdecimal() or not int(line):
        raise click.UsageError(f"{place}: FILE:LINE is expected, such as tile.cu:42")
    return path, int(line)


def _write_through_others(path: str, line: int, settings: Settings, failures: list[Failure]) -> None:
    """The same in files that include this one, whose launches and calls give its kernels other numbers."""
    from cudalint.launches.program.project_texts import sources_including

    others = [os.path.relpath(other) for other in sources_including(path)]
    configured, broken = configure(discover(others[:_MOST_OTHERS], settings.excludes, True).files, settings)
    failures += broken
    for each in configured:
        write_text(_lines(path, line, each.options, failures, each.file.path))
    if len(others) > _MOST_OTHERS:
        write_text([f"not traced: {count(len(others) - _MOST_OTHERS, 'more file')} that include {path}"])


def _lines(
    path: str, line: int, options: AnalysisOptions, failures: list[Failure], through: str | None = None
) -> list[str]:
    # numpy and what evaluates kernels are loaded here, and not by `--help`.
    from cudalint.run.tracing import Trace

    trace, analysed = Trace(path, line, through), through or path
    facts = analyse(analysed, options, trace.watch)
    if isinstance(facts, Failure):
        failures.append(facts)
        return []
    failures += [Failure.of(analysed, each) for each in facts.failures]
    return list(trace.report(facts))
