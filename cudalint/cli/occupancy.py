"""`cudalint occupancy`: how many blocks fit on an SM."""

from __future__ import annotations

import click

from cudalint.cli import NOTHING_FOUND, completion, parameters
from cudalint.cli.headed import color_option, format_option
from cudalint.cli.terminal import output_style, write_lines, write_text
from cudalint.options.analysis import DEFAULT_TARGET
from cudalint.report.formats.plain import json_text

_BYTES = click.IntRange(min=0)


@click.command("occupancy")
@click.option("--threads", type=click.IntRange(min=1), required=True, metavar="N", help="Threads per block.")
@click.option(
    "--registers", type=click.IntRange(min=1), metavar="N",
    help="Registers per thread.  [default: unknown, and a table over them]",
)
@click.option(
    "--shared", type=_BYTES, default=0, show_default=True, metavar="BYTES", help="Shared memory per block."
)
@click.option(
    "--dynamic-shared", type=_BYTES, default=0, show_default=True, metavar="BYTES",
    help="Dynamic shared memory per block, on top of --shared.",
)
@click.option(
    "--opt-in/--no-opt-in", default=True, show_default=True,
    help="Whether the kernel may have more than 48 KB of shared memory.",
)
@click.option(
    "--carveout", type=click.IntRange(0, 100), metavar="PERCENT",
    help="Preferred share of shared memory.  [default: the driver's choice]",
)
@click.option(
    "--target", callback=parameters.target_name, shell_complete=completion.targets, default=DEFAULT_TARGET,
    show_default=True, metavar="NAME",
    help="GPU by chip or architecture: a100, h100, sm_86.",
)
@format_option("Tables, or JSON for programs.", "text", "json")
@color_option
def command(
    threads: int,
    registers: int | None,
    shared: int,
    dynamic_shared: int,
    opt_in: bool,
    carveout: int | None,
    target: str,
    format_: str,
    color: bool | None,
) -> int:
    """Print how many blocks fit on an SM, what stops the next one, and what would let it in.

    \b
    Examples:
      cudalint occupancy --threads 256 --registers 40 --shared 8192
      cudalint occupancy --threads 1024 --target sm_86 --format json
    """
    from cudalint.hardware.occupancy import Setting
    from cudalint.hardware.targets import find_target
    from cudalint.report.formats.occupancy import Question, json_object, text_lines

    chip = find_target(target)
    if threads > chip.max_threads_per_block:
        problem = f"{threads} threads are more than a block of {chip.name} may have ({chip.max_threads_per_block})"
        raise click.BadParameter(problem, param_hint="--threads")
    question = Question(chip, threads, registers, shared + dynamic_shared, Setting(carveout, opt_in))
    if format_ == "json":
        write_lines([json_text(json_object(question), indent=2)])
    else:
        write_text(text_lines(question, output_style(color)))
    return NOTHING_FOUND
