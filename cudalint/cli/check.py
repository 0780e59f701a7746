"""`cudalint check`: lint files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import click

from cudalint.cli import FAILED, FINDINGS, NOTHING_FOUND
from cudalint.cli.analysis_options import analysis_options, limits_from, rule_options, settings_from
from cudalint.cli.headed import HeadedCommand
from cudalint.cli.progress import ProgressBar
from cudalint.cli.terminal import is_wide, output_style, print_failures, write_lines
from cudalint.diagnostics import Severity
from cudalint.discovery import SourceFile, discover
from cudalint.driver import check_files
from cudalint.reporters import pictures
from cudalint.reporters.style import Style
from cudalint.results import SEVERITIES, CheckResult


@dataclass(frozen=True, slots=True)
class _Output:
    """How the user wants to see the result."""

    format: str
    style: Style
    show: bool | None
    quiet: bool

    @property
    def pictures(self) -> int | None:
        """For how many findings to draw a picture; None for all."""
        if self.format != "text" or self.show is False:
            return 0
        if self.show:
            return None
        from cudalint.reporters.text import WORST

        return WORST if is_wide(pictures.NEEDED_WIDTH) else 0


@click.command("check", cls=HeadedCommand)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@rule_options
@click.option(
    "--fail-on",
    type=click.Choice(SEVERITIES),
    default="warning",
    show_default=True,
    help="Exit with 1 for findings at least as bad as this.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "concise", "json"]),
    default="text",
    show_default=True,
    help="How to print findings.",
)
@click.option(
    "--show/--no-show", default=None, help="Draw banks and sectors.  [default: the worst three, in a wide terminal]"
)
@click.option("--color/--no-color", default=None, help="Use colours.  [default: in a terminal]")
@click.option("-q", "--quiet", is_flag=True, help="Print findings only, no summary and no progress.")
@analysis_options
def command(
    paths: Sequence[str],
    fail_on: str,
    format_: str,
    show: bool | None,
    color: bool | None,
    quiet: bool,
    **values: Any,
) -> int:
    """Lint CUDA files and folders; `-` reads standard input.

    Exit status: 0 nothing at or above --fail-on, 1 findings, 2 something could not be linted.

    \b
    Examples:
      cudalint check kernels/*.cu
      cudalint check src --select CL2 --fail-on info
      cudalint check a.cu --block 32,8 --param N=4096 --show
    """
    output = _Output(format_, output_style(color), show, quiet)
    settings = settings_from(values)
    found = discover(paths, settings.excludes, values["force_exclude"])
    with ProgressBar(len(found.files), quiet) as progress:
        result = check_files(
            found.files,
            settings,
            limits_from(values),
            pictures=output.pictures != 0,
            on_done=progress.advance,
        )
    result = replace(result, failures=(*found.failures, *result.failures))
    write_lines(_rendered(result, output, found.files))
    print_failures(result.failures)
    if result.failures:
        return FAILED
    return FINDINGS if result.reaches(cast(Severity, fail_on)) else NOTHING_FOUND


def _rendered(result: CheckResult, output: _Output, files: Sequence[SourceFile]) -> Iterator[str]:
    """The lines of the report. Each format's module is imported when it is asked for."""
    if output.format == "json":
        from cudalint.reporters import diagnostics_json

        return diagnostics_json.render(result)
    if output.format == "concise":
        from cudalint.reporters import concise

        return concise.render(result, output.style)
    from cudalint.reporters import text
    from cudalint.reporters.sources import SourceLines

    sources = SourceLines({file.path: file.text for file in files if file.text is not None})
    return text.render(result, sources, text.TextSettings(output.style, output.pictures, not output.quiet))
