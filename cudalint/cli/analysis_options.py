"""The options that commands share: what is to be assumed about the code, which files, and how they are worked off."""

from __future__ import annotations

from typing import Any

import click

from cudalint.cli import completion, parameters
from cudalint.cli.headed import together, under
from cudalint.project.settings import Settings
from cudalint.run.api.configuration import Configuration
from cudalint.run.limits import Limits

_LEAST_MEMORY = 200
"""Megabytes without which no file can be analysed: libclang and numpy take half of it."""

_launch = under("What the source doesn't show")
_compiler = under("Compiler")
_files = under("Files and configuration")
_rules = under("Rules")

target_option = _launch(
    "--target", callback=parameters.target_name, shell_complete=completion.targets, metavar="NAME",
    help="GPU by chip or architecture: a100, h100, sm_86.  [default: that of the build, or a100]",
)  # fmt: skip
targets_option = _launch(
    "--target", "targets", callback=parameters.targets, shell_complete=completion.targets, metavar="NAME,...",
    help="GPUs by chip or architecture: a100,h100,sm_86.  [default: that of the build, or a100]",
)  # fmt: skip

options_but_target = together(
    _launch(
        "--block", callback=parameters.block, metavar="X,Y,Z",
        help="Block size for kernels without a launch in sight.",
    ),
    _launch(
        "--grid", callback=parameters.grid, metavar="X,Y,Z",
        help="Grid size for kernels without a launch in sight.",
    ),
    _launch(
        "--shared", type=click.IntRange(0, 2**32 - 1), metavar="BYTES",
        help="Dynamic shared memory for kernels without a launch in sight.",
    ),
    _launch(
        "--force-launch", is_flag=True,
        help="Use --block, --grid and --shared for all kernels.",
    ),
    _launch(
        "--launches", callback=parameters.recordings, shell_complete=completion.files, multiple=True, metavar="FILE",
        help="Use these recorded launches.  [default: the nearest cudalint-launches.json]",
    ),
    _launch(
        "--only-recorded/--no-only-recorded", default=None,
        help="Use recorded launches alone.  [default: no]",
    ),
    _launch(
        "--no-launches", is_flag=True, help="Use no recorded launches that are found or configured.",
    ),
    _launch(
        "--registers", type=click.IntRange(1, 255), metavar="N",
        help="Registers per thread of every kernel.",
    ),
    _launch(
        "--maxrregcount", "max_registers", type=click.IntRange(1, 255), metavar="N",
        help="Most registers per thread that nvcc may use.",
    ),
    _launch(
        "--cubin", "cubins", callback=parameters.cubins, shell_complete=completion.files, multiple=True, metavar="FILE",
        help="Take registers from compiled kernels.",
    ),
    _launch(
        "--ptxas", is_flag=True, help="Compile with nvcc to learn registers, spills and local memory (kept on disk).",
    ),
    _launch(
        "--param", "params", callback=parameters.parameter_values, multiple=True,
        metavar="[KERNEL:]NAME=VALUE", help="Value of a kernel's scalar argument.",
    ),
    _launch(
        "--assume", "assumes", callback=parameters.assumptions, multiple=True, metavar="EXPR",
        help="Condition that holds in every kernel, such as 'K % 4 == 0'.",
    ),
    _launch(
        "--race-scope", type=click.Choice(["block", "grid"]), default="grid", show_default=True,
        help="Look for races within a block, or between blocks too.",
    ),
    _compiler(
        "-I", "include_dirs", shell_complete=completion.files, metavar="DIR", multiple=True,
        help="Folder to search for includes.",
    ),
    _compiler(
        "-D", "defines", callback=parameters.defines, metavar="NAME[=VALUE]", multiple=True,
        help="Preprocessor macro.",
    ),
    _compiler(
        "-std", "--std", callback=parameters.standard, metavar="STANDARD", help="C++ standard, such as c++17.",
    ),
    _compiler(
        "--cuda-path", type=click.Path(exists=True, file_okay=False), metavar="DIR",
        help="CUDA toolkit to take missing headers from, those of its include/cccl too.",
    ),
    _compiler(
        "--compile-commands", callback=parameters.database, metavar="FILE",
        help="compile_commands.json with flags for each file.  [default: the nearest]",
    ),
    _files(
        "--config", type=click.Path(), metavar="FILE",
        help="Configuration for all files.  [default: the cudalint.toml or pyproject.toml nearest to each]",
    ),
    _files("--no-config", is_flag=True, help="Use no configuration file."),
    _files(
        "--exclude", callback=parameters.path_patterns, multiple=True, metavar="PATTERN",
        help="Leave files and folders out that a folder would bring in; patterns as in .gitignore.",
    ),
    _files(
        "--force-exclude", is_flag=True,
        help="Leave out excluded files that are named one by one too, as pre-commit names them.",
    ),
    _files(
        "--gitignore/--no-gitignore", "respect_gitignore", default=None,
        help="Leave out what .gitignore files ignore.  [default: yes]",
    ),
    _files(
        "-j", "--jobs", type=click.IntRange(min=1), metavar="N",
        help="Worker processes.  [default: one per CPU]",
    ),
    _files(
        "--time-limit", type=click.FloatRange(min=0, min_open=True), default=20.0, show_default=True,
        metavar="SECONDS", help="Give a file up after computing for this long.",
    ),
    _files(
        "--memory-limit", type=click.IntRange(min=_LEAST_MEMORY), default=2000, show_default=True,
        metavar="MEGABYTES", help="Give a file up that needs more than this (on Linux).",
    ),
    _files(
        "--max-line", type=click.IntRange(min=1), default=1_000_000, show_default=True, metavar="BYTES",
        help="Read no file with a longer line.",
    ),
    _files(
        "--max-nesting", type=click.IntRange(min=1), default=10_000, show_default=True, metavar="N",
        help="Read no file with more operators and brackets in an expression.",
    ),
)  # fmt: skip

analysis_options = together(target_option, options_but_target)

rule_options = together(
    _rules(
        "--select", callback=parameters.rule_selectors, shell_complete=completion.rule_lists, multiple=True,
        metavar="RULE,...",
        help="Run these rules: codes, starts of codes, names, or ALL.",
    ),
    _rules(
        "--extend-select", callback=parameters.rule_selectors, shell_complete=completion.rule_lists, multiple=True,
        metavar="RULE,...",
        help="Run these rules too.",
    ),
    _rules(
        "--ignore", callback=parameters.rule_selectors, shell_complete=completion.rule_lists, multiple=True,
        metavar="RULE,...",
        help="Don't run these rules.",
    ),
    _rules(
        "--threshold", "thresholds", callback=parameters.thresholds, shell_complete=completion.thresholds,
        multiple=True, metavar="RULE.NAME=VALUE",
        help="From which figure on a rule reports, such as bank-conflict.ways=4.",
    ),
    _rules(
        "--min-share", callback=parameters.share, metavar="SHARE",
        help="Count waste only that takes less of its kernel's time or traffic; 0 shows all.  [default: 10%]",
    ),
)  # fmt: skip

_FIELDS = (
    "include_dirs", "defines", "std", "cuda_path", "compile_commands", "block", "grid", "shared", "force_launch",
    "assumes", "race_scope", "registers", "max_registers", "cubins", "ptxas", "launches", "no_launches",
    "only_recorded", "time_limit", "max_line", "max_nesting", "target", "exclude", "respect_gitignore",
    "config", "no_config", "jobs", "memory_limit",
)  # fmt: skip


def configuration_from(values: dict[str, Any]) -> Configuration:
    """What the user said, as a record; raises a usage error where it contradicts itself."""
    for dependent in ("grid", "shared", "force_launch"):
        if values["block"] is None and values[dependent] not in (None, False):
            raise click.UsageError(f"--{dependent.replace('_', '-')} needs --block")
    if values["config"] is not None and values["no_config"]:
        raise click.UsageError("--config and --no-config contradict each other")
    for other in ("launches", "only_recorded"):
        if values["no_launches"] and values[other]:
            raise click.UsageError(f"--{other.replace('_', '-')} and --no-launches contradict each other")
    if values["ptxas"]:
        _need_nvcc(values["cuda_path"])
    rules = {name: values[name] for name in ("select", "ignore", "extend_select", "min_share") if name in values}
    return Configuration(
        **{name: values[name] for name in _FIELDS},
        **rules,
        params={f"{kernel}:{name}" if kernel else name: value for kernel, name, value in values["params"]},
        thresholds={f"{rule}.{name}": value for rule, name, value in values.get("thresholds", ())},
    )


def settings_from(values: dict[str, Any]) -> Settings:
    """What the user said, ready to be put on top of each file's configuration.

    Raises a usage error where it contradicts itself, and `ConfigError` for a named file that can't be used.
    """
    return configuration_from(values).settings()


def limits_from(values: dict[str, Any]) -> Limits:
    """What workers may use."""
    return configuration_from(values).limits()


def _need_nvcc(cuda_path: str | None) -> None:
    from cudalint.toolchain.toolkit.nvcc import find_nvcc

    if find_nvcc(cuda_path) is None:
        places = f"in {cuda_path}/bin" if cuda_path else "in PATH, CUDA_HOME or CUDA_PATH"
        hint = "" if cuda_path else "; `pip install 'cudalint[ptxas]'` brings one for Linux"
        raise click.UsageError(f"--ptxas needs nvcc, and there is none {places}{hint}")
