"""`cudalint what-if`: a kernel under other launches, sizes, registers, paddings and targets."""

from __future__ import annotations

from typing import Any

import click

from cudalint.cli import FAILED, NOTHING_FOUND, completion, parameters
from cudalint.cli.analysis_options import analysis_options, rule_options, settings_from
from cudalint.cli.headed import HeadedCommand, format_option, together, under
from cudalint.cli.terminal import print_failures, write_lines, write_text
from cudalint.options.analysis import ParameterValue
from cudalint.regexes import regex
from cudalint.report.findings.results import are_errors
from cudalint.report.formats.plain import json_text

_PAD = regex(r"([A-Za-z_]\w*)=(\d+)")
_REGISTERS = regex(r"(\d+)(?:\.\.(\d+))?")
_MOST_REGISTERS = 255
_STEP = 8
"""In which a GPU gives registers to a thread."""

_varied = under("What is to be tried")


def _blocks(ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[tuple[int, int, int], ...]:
    found = (parameters.block(ctx, option, text) for text in dict.fromkeys(texts))
    return tuple(block for block in found if block is not None)


def _pads(ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    pads: dict[str, tuple[int, ...]] = {}
    for text in texts:
        match = _PAD.fullmatch(text)
        if match is None:
            raise click.BadParameter(f"`{text}` has not the form ARRAY=ELEMENTS, such as tile=33")
        pads[match[1]] = (*pads.get(match[1], ()), int(match[2]))
    return pads


def _registers(ctx: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[int, ...]:
    """`N`, or a range, of which the numbers are tried that GPUs give."""
    found: list[int] = []
    for text in texts:
        match = _REGISTERS.fullmatch(text)
        first, last = (int(match[1]), int(match[2] or match[1])) if match is not None else (0, 0)
        if not 1 <= first <= last <= _MOST_REGISTERS:
            raise click.BadParameter(f"`{text}` is no number of registers from 1 to 255, and no range such as 32..128")
        found += [first, *range(first - first % _STEP + _STEP, last, _STEP), last] if last > first else [first]
    return tuple(dict.fromkeys(found))


_what_is_tried = together(
    _varied("--block", "blocks", callback=_blocks, multiple=True, metavar="X,Y,Z",
            help="A block, with the grid that covers as many threads; may be repeated, as all of these."),
    _varied("--pad", "pads", callback=_pads, multiple=True, metavar="ARRAY=ELEMENTS",
            help="Rows of so many elements in an array of shared memory."),
    _varied("--param", "params", callback=parameters.parameter_values, multiple=True, metavar="[KERNEL:]NAME=VALUE",
            help="Value of a kernel's scalar argument."),
    _varied("--registers", callback=_registers, multiple=True, metavar="N[..N]",
            help="Registers per thread, or a range of them."),
    _varied("--target", "targets", callback=parameters.targets, multiple=True, metavar="NAME,...",
            help="GPUs by chip or architecture."),
)  # fmt: skip


def _without_own(command: click.Command) -> click.Command:
    """The options of all analyses, without those whose names have another meaning here."""
    shared = {"--block", "--param", "--registers", "--target", "--grid", "--shared", "--force-launch"}
    command.params = [
        each
        for each in command.params
        if getattr(each, "heading", None) == "What is to be tried" or not shared & set(each.opts)
    ]
    return command


@_without_own
@click.command("what-if", cls=HeadedCommand)
@click.argument("path", metavar="FILE", shell_complete=completion.files)
@click.option("--kernel", metavar="NAME", help="This kernel alone.")
@format_option("A table for each kernel, or JSON for programs.", "text", "json")
@_what_is_tried
@rule_options
@analysis_options
def command(
    path: str,
    kernel: str | None,
    format_: str,
    blocks: tuple[tuple[int, int, int], ...],
    pads: dict[str, tuple[int, ...]],
    params: tuple[ParameterValue, ...],
    registers: tuple[int, ...],
    targets: tuple[str, ...],
    **values: Any,
) -> int:
    """Print what other blocks, rows, arguments, registers and GPUs would make of the kernels of a file.

    All combinations are tried, beside the launch as it is: their time by the model, what binds them, occupancy,
    traffic, and the findings that appear and vanish. The fastest that does the same work and brings no fault is marked.
    Arguments change the work, so that variants of these are never marked.

    Exit status: 0, or 2 where something could not be analysed.

    \b
    Examples:
      cudalint what-if tile.cu --block 128 --block 256 --block 32,8
      cudalint what-if tile.cu --kernel transpose --pad tile=33 --target a100,h100
      cudalint what-if sgemm.cu --registers 32..128 --param K=1024 --param K=4096 --format json
    """
    from cudalint.cli.whatif import tables as shown
    from cudalint.cli.whatif.variants import Asked, Impossible, outcomes
    from cudalint.project.discovery import discover
    from cudalint.run.job import CheckJob
    from cudalint.run.runs import configure

    settings = settings_from({"block": None, "grid": None, "shared": None, "force_launch": False, "registers": None,
                              "target": None, "params": (), **values})  # fmt: skip
    found = discover([path], settings.excludes, True)
    configured, broken = configure(found.files, settings)
    failures = [*found.failures, *broken]
    print_failures(failures)
    if found.failures or len(configured) != 1:
        if not failures:
            raise click.UsageError(f"{path}: one file is expected")
        return FAILED
    each = configured[0]
    job = CheckJob(each.file.path, each.options, each.settings.selection, False, each.settings.thresholds)
    by_name: dict[tuple[str | None, str], list[str]] = {}
    for value in params:
        by_name.setdefault((value.kernel, value.name), []).append(value.value)
    asked = Asked(job, blocks, pads, by_name, registers, targets, kernel)
    try:
        tables = list(outcomes(asked))
    except Impossible as reason:
        raise click.ClickException(f"{path}: {reason}") from None
    if format_ == "json":
        write_lines([json_text(shown.json_object(tables, targets or (each.options.target,)), indent=2)])
    else:
        write_text(shown.text_lines(tables))
    return FAILED if are_errors(failures) else NOTHING_FOUND
