"""`cudalint confirm`: predictions against a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any

import click

from cudalint.cli import FAILED, FINDINGS, NOTHING_FOUND
from cudalint.cli.analysis_options import analysis_options, limits_from, settings_from
from cudalint.cli.parameters import parameter_values
from cudalint.cli.terminal import print_failures, write_lines, write_text
from cudalint.cli.warnings import note_programs
from cudalint.project.discovery import discover
from cudalint.report.formats.plain import json_text
from cudalint.run.runs import configure
from cudalint.system.disk.replacing import write_whole

if TYPE_CHECKING:
    from cudalint.confirm.fixes import FixRow
    from cudalint.confirm.session import Report


@click.command("confirm")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--method",
    type=click.Choice(["auto", "ncu", "instrumented"]),
    default="auto",
    show_default=True,
    help="Where sectors and wavefronts come from: Nsight Compute's counters, recorded addresses, or both.",
)
@click.option(
    "--arg", "arguments", callback=parameter_values, multiple=True, metavar="[KERNEL:]NAME=VALUE",
    help="Value of a kernel's scalar argument (the same as --param).",
)  # fmt: skip
@click.option(
    "--kernel-time", type=click.FloatRange(min=0, min_open=True), default=20.0, show_default=True, metavar="SECONDS",
    help="Give a kernel up after this time.",
)  # fmt: skip
@click.option("--fixes", is_flag=True, help="Apply each suggestion to a copy, and compare both versions.")
@click.option("--record", is_flag=True, help="Keep what was measured beside each file, as FILE.measured.json.")
@click.option("--svg", type=click.Path(dir_okay=False, writable=True), metavar="FILE", help="Draw the comparison.")
@click.option("--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-q", "--quiet", is_flag=True, help="Print only what does not agree.")
@analysis_options
def command(
    paths: Sequence[str],
    method: Any,
    arguments: tuple[Any, ...],
    kernel_time: float,
    fixes: bool,
    record: bool,
    svg: str | None,
    format_: str,
    quiet: bool,
    **values: Any,
) -> int:
    """Compile and run kernels on this machine's GPU, and compare every prediction with the hardware.

    Exit status: 0 if all predictions agree, 1 if one is off, 2 if something could not be measured.

    \b
    Examples:
      cudalint confirm kernels/tile.cu
      cudalint confirm kernels --fixes --svg confirmed.svg
      cudalint confirm tile.cu --arg N=4096 --method instrumented
    """
    import tempfile

    from cudalint.confirm import reporting
    from cudalint.confirm.backend import Settings
    from cudalint.confirm.fixes import confirm_fixes
    from cudalint.confirm.picture import svg as drawn
    from cudalint.confirm.session import confirm

    settings = settings_from({**values, "params": (*values["params"], *arguments)})
    limits, how = limits_from(values), Settings(method, kernel_time)
    if not quiet:
        note_programs(("nvidia-smi", *(() if method == "instrumented" else ("ncu",))), None)
    found = discover(paths, settings.excludes, values["force_exclude"])
    configured, broken = configure(found.files, settings)
    sources = [(each.file.path, each.options) for each in configured if not each.file.is_optional]
    report = confirm(sources, limits, how)
    fixed: list[FixRow] = []
    if fixes and report.device is not None:
        with tempfile.TemporaryDirectory(prefix="cudalint-") as folder:
            fixed = confirm_fixes(sources, limits, how, folder, report)
    report.failures[:0] = [*found.failures, *broken]
    if record:
        report.notes += _recorded(report, fixed)
    if svg is not None:
        write_whole(svg, drawn(report.rows, reporting.summary_line(report)).encode())
    if format_ == "json":
        write_lines([json_text(reporting.document(report, fixed), indent=1)])
    else:
        write_text(reporting.lines(report, fixed, verbose=not quiet))
    print_failures(report.failures)
    summary = report.summary
    if summary.off or any(fix.outputs == "differ" for fix in fixed):
        return FINDINGS
    if report.failures or report.device is None or summary.not_measured or not summary.equal:
        return FAILED
    return NOTHING_FOUND


def _recorded(report: Report, fixed: Sequence[FixRow]) -> Iterator[str]:
    """Keeps what was measured beside each file; yields what there is to say of it."""
    from datetime import datetime

    from cudalint.confirm.recording import write_records

    if report.device is None:
        yield "nothing was recorded"
        return
    today = datetime.now(UTC).date().isoformat()
    yield from (f"recorded in {path}" for path in write_records(report, fixed, today))
