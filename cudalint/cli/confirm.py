"""`cudalint confirm`: predictions against a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from typing import Any

import click

from cudalint.cli import FAILED, FINDINGS, NOTHING_FOUND
from cudalint.cli.analysis_options import analysis_options, limits_from, settings_from
from cudalint.cli.parameters import parameter_values
from cudalint.cli.terminal import print_failures, write_lines, write_text
from cudalint.cli.warnings import note_programs
from cudalint.options.analysis import AnalysisOptions
from cudalint.project.discovery import discover
from cudalint.report.formats.plain import json_text
from cudalint.run.runs import configure
from cudalint.system.disk.replacing import write_whole


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
    from cudalint.confirm.backend import Settings

    settings = settings_from({**values, "params": (*values["params"], *arguments)})
    run = _Run(limits_from(values), Settings(method, kernel_time))
    if not quiet:
        note_programs(("nvidia-smi", *(() if method == "instrumented" else ("ncu",))), None)
    found = discover(paths, settings.excludes, values["force_exclude"])
    configured, broken = configure(found.files, settings)
    run.measure([(each.file.path, each.options) for each in configured if not each.file.is_optional], fixes)
    run.report.failures[:0] = [*found.failures, *broken]
    if record:
        run.record()
    if svg is not None:
        run.draw(svg)
    run.print(format_, verbose=not quiet)
    print_failures(run.report.failures)
    return run.status()


class _Run:
    def __init__(self, limits: Any, settings: Any) -> None:
        from cudalint.confirm.session import Report

        self._limits, self._settings = limits, settings
        self.report = Report()
        self._fixes: list[Any] = []

    def measure(self, sources: Sequence[tuple[str, AnalysisOptions]], fixes: bool) -> None:
        import tempfile

        from cudalint.confirm.fixes import confirm_fixes
        from cudalint.confirm.session import confirm

        self.report = confirm(sources, self._limits, self._settings)
        if fixes and self.report.device is not None:
            with tempfile.TemporaryDirectory(prefix="cudalint-") as folder:
                self._fixes = confirm_fixes(sources, self._limits, self._settings, folder, self.report)

    def record(self) -> None:
        from datetime import datetime

        from cudalint.confirm.recording import write_records

        if self.report.device is None:
            self.report.notes.append("nothing was recorded")
            return
        today = datetime.now(UTC).date().isoformat()
        for path in write_records(self.report, self._fixes, today):
            self.report.notes.append(f"recorded in {path}")

    def draw(self, path: str) -> None:
        from cudalint.confirm.picture import svg
        from cudalint.confirm.reporting import summary_line

        write_whole(path, svg(self.report.rows, summary_line(self.report)).encode())

    def print(self, format_: str, *, verbose: bool) -> None:
        from cudalint.confirm.reporting import document, lines

        if format_ == "json":
            write_lines([json_text(document(self.report, self._fixes), indent=1)])
        else:
            write_text(lines(self.report, self._fixes, verbose=verbose))

    def status(self) -> int:
        summary = self.report.summary
        if summary.off or any(fix.outputs == "differ" for fix in self._fixes):
            return FINDINGS
        if self.report.failures or self.report.device is None or summary.not_measured or not summary.equal:
            return FAILED
        return NOTHING_FOUND
