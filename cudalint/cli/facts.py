"""`cudalint facts`: what the analysis knows, before any rule has an opinion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import click
from msgspec.structs import replace

from cudalint.cli import completion
from cudalint.cli.analysis_options import analysis_options
from cudalint.cli.described import Describing, Job
from cudalint.cli.headed import HeadedCommand, color_option, format_option
from cudalint.cli.terminal import output_style, write_lines, write_text
from cudalint.facts import FileFacts
from cudalint.kinds import SHOWN_KINDS, Kinds, shown_kinds
from cudalint.options.analysis import AnalysisOptions
from cudalint.report.findings.results import Failure
from cudalint.report.formats.style import Style
from cudalint.run.runs import target_of


def as_json(facts: FileFacts, options: AnalysisOptions) -> str:
    from cudalint.report.formats.facts_json import file_text

    return file_text(facts)


def as_text(facts: FileFacts, options: AnalysisOptions, style: Style) -> str:
    from cudalint.report.formats.facts_text import render

    return "\n".join(render(facts, style))


@click.command("facts", cls=HeadedCommand)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=completion.files)
@format_option("A table for each kernel, or JSON for programs.", "text", "json")
@click.option(
    "--only",
    callback=lambda context, parameter, value: _kinds(value),
    metavar="KIND,...",
    shell_complete=completion.kinds,
    help=f"Collect facts of these kinds alone, which is faster: {', '.join(sorted(SHOWN_KINDS))}. All are in JSON, "
    "accesses and occupancy in text.",
)
@color_option
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
    describing = Describing(paths, values)
    shown = as_json if format_ == "json" else partial(as_text, style=output_style(color))
    jobs = [Job(each.file.path, replace(each.options, kinds=only), shown) for each in describing.configured]
    answers = describing.answers(jobs)
    if format_ == "json":
        write_lines(_document(answers, target_of(describing.configured, describing.settings)))
    else:
        write_text(answer for answer in answers if isinstance(answer, str))
    return describing.status()


def _kinds(text: str | None) -> Kinds:
    """What `--only` names."""
    try:
        return SHOWN_KINDS if text is None else shown_kinds(text.split(","))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _document(answers: Iterator[str | Failure], target: str) -> Iterator[str]:
    from cudalint.report.formats.facts_json import document_lines, failure_text

    texts = (failure_text(answer) if isinstance(answer, Failure) else answer for answer in answers)
    return document_lines(target, texts)
