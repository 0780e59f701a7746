"""The options that `check` and `facts` share: what is to be assumed about the code, and how files are worked off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from cudalint.cli import parameters
from cudalint.options import AnalysisOptions
from cudalint.pool import Limits, default_workers

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--target", callback=parameters.target_name, default="a100", show_default=True, metavar="NAME",
        help="GPU by chip or architecture: a100, h100, sm_86.",
    ),
    click.option(
        "--block", callback=parameters.dimensions, metavar="X,Y,Z",
        help="Block size for kernels without a launch in sight.",
    ),
    click.option(
        "--grid", callback=parameters.dimensions, metavar="X,Y,Z",
        help="Grid size for kernels without a launch in sight.",
    ),
    click.option(
        "--shared", type=click.IntRange(min=0), metavar="BYTES",
        help="Dynamic shared memory for kernels without a launch in sight.",
    ),
    click.option(
        "--force-launch", is_flag=True,
        help="Use --block, --grid and --shared for all kernels.",
    ),
    click.option(
        "--param", "params", callback=parameters.parameter_values, multiple=True,
        metavar="[KERNEL:]NAME=VALUE", help="Value of a kernel's scalar argument.",
    ),
    click.option(
        "--assume", "assumes", callback=parameters.assumptions, multiple=True, metavar="EXPR",
        help="Condition that holds in every kernel, such as 'K % 4 == 0'.",
    ),
    click.option(
        "--race-scope", type=click.Choice(["block", "grid"]), default="block", show_default=True,
        help="Look for races within a block, or between blocks too.",
    ),
    click.option("-I", "include_dirs", metavar="DIR", multiple=True, help="Folder to search for includes."),
    click.option(
        "-D", "defines", callback=parameters.defines, metavar="NAME[=VALUE]", multiple=True,
        help="Preprocessor macro.",
    ),
    click.option("-std", "--std", metavar="STANDARD", help="C++ standard, such as c++17."),
    click.option(
        "--cuda-path", type=click.Path(exists=True, file_okay=False), metavar="DIR",
        help="CUDA toolkit to take missing headers from.",
    ),
    click.option(
        "--compile-commands", type=click.Path(exists=True), metavar="FILE",
        help="compile_commands.json with flags for each file.",
    ),
    click.option(
        "-j", "--jobs", type=click.IntRange(min=1), metavar="N",
        help="Worker processes.  [default: one per CPU]",
    ),
    click.option(
        "--time-limit", type=click.FloatRange(min=0, min_open=True), default=20.0, show_default=True,
        metavar="SECONDS", help="Give a file up after this time.",
    ),
)  # fmt: skip


def analysis_options(command: Command) -> Command:
    """Adds the shared options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_FIELDS = (
    "include_dirs", "defines", "std", "cuda_path", "compile_commands", "block", "grid", "shared", "force_launch",
    "params", "assumes", "target", "race_scope",
)  # fmt: skip


def analysis_options_from(values: dict[str, Any]) -> AnalysisOptions:
    """What the user said about the code; raises a usage error where it contradicts itself."""
    if values["force_launch"] and values["block"] is None:
        raise click.UsageError("--force-launch needs --block")
    return AnalysisOptions(**{name: values[name] for name in _FIELDS})


def limits_from(values: dict[str, Any]) -> Limits:
    return Limits(workers=values["jobs"] or default_workers(), seconds=values["time_limit"])
