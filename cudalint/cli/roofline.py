"""`cudalint roofline`: what bounds each kernel, and how far it is from what the GPU allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct
from msgspec.structs import replace

from cudalint.cli import FAILED, NOTHING_FOUND, completion
from cudalint.cli.analysis_options import limits_from, options_but_target, settings_from, targets_option
from cudalint.cli.headed import HeadedCommand
from cudalint.cli.terminal import output_style, print_failures, write_lines, write_text
from cudalint.cli.warnings import warn_of_options, warn_of_settings
from cudalint.kinds import Kind
from cudalint.options.analysis import AnalysisOptions
from cudalint.project.discovery import discover
from cudalint.report.findings.results import Failure, are_errors
from cudalint.report.formats.plain import json_text
from cudalint.run.file_facts import analyse
from cudalint.run.limits import Lost
from cudalint.run.runs import configure, run_all

if TYPE_CHECKING:
    from cudalint.report.formats.roofline import KernelRoof

_KINDS: frozenset[Kind] = frozenset({"costs"})


class _Job(Struct, frozen=True):
    path: str
    options: AnalysisOptions


class _Answer(Struct, frozen=True):
    kernels: tuple[KernelRoof, ...]
    failures: tuple[Failure, ...]
    parameters: frozenset[tuple[str, str]]


def costs_of_file(job: _Job) -> _Answer | Failure:
    """What the kernels of one file cost on one target."""
    from cudalint.report.formats.roofline import kernels_of

    facts = analyse(job.path, job.options)
    if isinstance(facts, Failure):
        return facts
    failures = tuple(Failure.of(job.path, each) for each in facts.failures)
    return _Answer(tuple(kernels_of(facts, job.options.target)), failures, facts.parameters)


@click.command("roofline", cls=HeadedCommand)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=completion.files)
@click.option("--kernel", "kernels", multiple=True, metavar="NAME", help="Show kernels of this name only.")
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "svg", "json"]),
    default="text",
    show_default=True,
    help="For the terminal, as a picture, or JSON for programs.",
)
@click.option("--color/--no-color", default=None, help="Use colours.  [default: in a terminal]")
@targets_option
@options_but_target
def command(
    paths: Sequence[str],
    kernels: Sequence[str],
    format_: str,
    color: bool | None,
    targets: Sequence[str],
    **values: Any,
) -> int:
    """Print what bounds each kernel: its arithmetic intensity beside the ridge of the target, and the time that each
    resource takes.

    Times are estimates of the time model, from counts that the analysis finds; several targets stand beside each other.

    Exit status: 0, or 2 where something could not be analysed.

    \b
    Examples:
      cudalint roofline kernels/tile.cu
      cudalint roofline src --target a100,h100,l40s
      cudalint roofline src --kernel sgemm --format svg > sgemm.svg
    """
    from cudalint.report.formats import roofline

    values["target"] = None
    settings, limits = settings_from(values), limits_from(values)
    found = discover(paths, settings.excludes, values["force_exclude"])
    configured, broken = configure(found.files, settings)
    jobs = [
        _Job(each.file.path, replace(each.options, kinds=_KINDS, only=tuple(kernels), target=target))
        for each in configured
        for target in targets or (each.options.target,)
    ]
    answers: list[_Answer | Failure] = [Failure(job.path, "") for job in jobs]
    for index, value in run_all(costs_of_file, jobs, limits):
        answers[index] = Failure(jobs[index].path, value.reason) if isinstance(value, Lost) else value
    shown = [kernel for answer in answers if isinstance(answer, _Answer) for kernel in answer.kernels]
    if format_ == "json":
        write_lines([json_text(roofline.json_object(shown), indent=2)])
    elif format_ == "svg":
        write_lines([roofline.svg(shown)])
    else:
        write_text(roofline.text_lines(shown, output_style(color)))
    failures = list(dict.fromkeys((*found.failures, *broken, *_failures(answers))))
    warn_of_options(values, {pair for answer in answers if isinstance(answer, _Answer) for pair in answer.parameters})
    warn_of_settings((each.file.path for each in configured), settings)
    print_failures(failures)
    return FAILED if are_errors(failures) else NOTHING_FOUND


def _failures(answers: Iterable[_Answer | Failure]) -> Iterable[Failure]:
    for answer in answers:
        if isinstance(answer, Failure):
            yield answer
        else:
            yield from answer.failures
