"""`cudalint roofline`: what bounds each kernel, and how far it is from what the GPU allows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct
from msgspec.structs import replace

from cudalint.cli import completion
from cudalint.cli.analysis_options import options_but_target, targets_option
from cudalint.cli.described import Describing, Job
from cudalint.cli.headed import HeadedCommand, color_option, format_option
from cudalint.cli.terminal import output_style, print_lines, write_lines, write_text
from cudalint.facts import FileFacts
from cudalint.kinds import Kind
from cudalint.options.analysis import AnalysisOptions
from cudalint.report.findings.results import Failure
from cudalint.report.formats.plain import json_text
from cudalint.report.formats.style import Style

if TYPE_CHECKING:
    from cudalint.report.formats.roofline import KernelRoof

_KINDS: frozenset[Kind] = frozenset({"costs"})


class FileRoofs(Struct, frozen=True):
    """What the kernels of one file cost on one target."""

    kernels: tuple[KernelRoof, ...]
    why_none: tuple[str, ...]
    """Lines that say it where there is no kernel."""


def costs_of(facts: FileFacts, options: AnalysisOptions) -> tuple[KernelRoof, ...]:
    """What the kernels of one file cost on one target."""
    from cudalint.report.formats.roofline import kernels_of

    return tuple(kernels_of(facts, options.target))


def roofs_of(facts: FileFacts, options: AnalysisOptions, style: Style) -> FileRoofs:
    from cudalint.report.formats.without_kernels import without_kernels

    return FileRoofs(costs_of(facts, options), tuple(without_kernels(facts, style)))


@click.command("roofline", cls=HeadedCommand)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=completion.files)
@click.option("--kernel", "kernels", multiple=True, metavar="NAME", help="Show kernels of this name only.")
@format_option("For the terminal, as a picture, or JSON for programs.", "text", "svg", "json")
@color_option
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

    Times are estimates of the time model, from counts that the analysis finds; several targets stand beside each other,
    and times that were recorded (`--launches`) beside all of them, whatever GPU they are of.

    Exit status: 0, or 2 where something could not be analysed.

    \b
    Examples:
      cudalint roofline kernels/tile.cu
      cudalint roofline src --target a100,h100,l40s
      cudalint roofline src --kernel sgemm --format svg > sgemm.svg
    """
    from cudalint.report.formats import roofline

    values["target"] = None
    describing = Describing(paths, values)
    shows_text = format_ == "text"
    made = partial(roofs_of, style=output_style(color) if shows_text else Style())
    jobs = [
        Job(each.file.path, replace(each.options, kinds=_KINDS, only=tuple(kernels), target=target), made)
        for each in describing.configured
        for target in targets or (each.options.target,)
    ]
    answers = [answer for answer in describing.answers(jobs) if not isinstance(answer, Failure)]
    shown = [kernel for answer in answers for kernel in answer.kernels]
    # Several targets have the same files. Beside kernels, a file without any is told of only if something is wrong.
    told = [answer.why_none for answer in answers if not shown or len(answer.why_none) > 1]
    why_none = list(dict.fromkeys(line for lines in told for line in lines))
    if format_ == "json":
        write_lines([json_text(roofline.json_object(shown), indent=2)])
    elif format_ == "svg":
        write_lines([roofline.svg(shown)])
    else:
        write_text([*why_none, *roofline.text_lines(shown, output_style(color), is_told=bool(why_none))])
    if not shows_text:
        print_lines(why_none)
    return describing.status()
