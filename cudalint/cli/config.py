"""`cudalint config`: what is in force, and where each value comes from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import click
from msgspec import Struct
from msgspec.structs import asdict, replace

from cudalint import registry
from cudalint.cli import NOTHING_FOUND, completion
from cudalint.cli.analysis_options import analysis_options, rule_options, settings_from
from cudalint.cli.headed import HeadedCommand, color_option, format_option
from cudalint.cli.terminal import output_style, write_lines, write_text
from cudalint.options.analysis import AnalysisOptions
from cudalint.project.config import Config
from cudalint.project.settings import CommandLine, FileSettings, Settings
from cudalint.project.thresholds import code_of
from cudalint.report.formats.plain import json_text
from cudalint.report.formats.style import Style
from cudalint.run.api.rendering import default_format
from cudalint.run.api.run_settings import DEFAULT_FAIL_ON
from cudalint.run.pool import default_workers

_DEFAULT = "default"
_COMMAND_LINE = "command line"


class _Row(Struct, frozen=True):
    """One value that is in force."""

    key: str
    value: object
    origin: str


@click.command("config", cls=HeadedCommand)
@click.argument("path", default=os.curdir, metavar="[PATH]", shell_complete=completion.files)
@format_option("A table, or JSON for programs.", "text", "json")
@color_option
@rule_options
@analysis_options
def command(path: str, format_: str, color: bool | None, **values: Any) -> int:
    """Print what is in force for a path, and why.

    Every setting with its value and where that comes from.

    The cudalint.toml, or the pyproject.toml with a table [tool.cudalint], that is nearest to a file counts for it. With
    options as for `check`, they are taken into account.

    \b
    Examples:
      cudalint config
      cudalint config kernels/sgemm.cu --target h100
    """
    if not os.path.exists(path):
        raise click.UsageError(f"{path}: no such file or folder")
    settings = settings_from(values)
    inside = os.path.join(path, "any.cu") if os.path.isdir(path) else path
    known = settings.of(inside)
    rows = list(_rows(settings, known, path))
    file = known.config.path if known.config else None
    if format_ == "json":
        document = {"path": path, "config": file, "settings": [asdict(row) for row in rows]}
        write_lines([json_text(document, indent=2)])
    else:
        write_text(_table(path, file, rows, output_style(color)))
    return NOTHING_FOUND


def _table(path: str, file: str | None, rows: list[_Row], style: Style) -> Iterator[str]:
    yield f"{path}: " + (f"configured by {file}" if file else "no configuration file")
    yield ""
    keys = max(len(row.key) for row in rows)
    texts = [_text(row.value) for row in rows]
    width = min(max(map(len, texts)), 50)
    for row, text in zip(rows, texts, strict=True):
        origin = style.paint(row.origin, "dim" if row.origin == _DEFAULT else "bold")
        yield f"{row.key:<{keys}}  {text:<{width}}  {origin}"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "-"
    return "-" if value is None else str(value)


def _rows(settings: Settings, known: FileSettings, path: str) -> Iterator[_Row]:
    given, config = settings.command_line, known.config
    yield _target(known, given, config)
    yield from _rules(known, given, config)
    yield from _report(config)
    yield from _files(settings, config)
    yield from _lists(given.options, config)
    yield _single("std", known.options.std, given.options.std, config.std if config else None, config)
    yield _single("cuda-path", known.options.cuda_path, given.options.cuda_path, None, config)
    yield _database(given.options, path)
    if known.options.max_registers is not None:
        is_given = given.options.max_registers is not None
        yield _Row("maxrregcount", known.options.max_registers, _COMMAND_LINE if is_given else "its compile command")
    yield _recordings(known, given, config)
    configured = config.only_recorded if config else None
    yield _single("only-recorded", known.options.only_recorded, given.only_recorded, configured, config)
    yield from _launches(given.options, config)


def _target(known: FileSettings, given: CommandLine, config: Config | None) -> _Row:
    row = _single("target", known.options.target, given.target, config.target if config else None, config)
    is_built_for = row.origin == _DEFAULT and row.value != given.options.target
    return replace(row, origin="the architecture that it is built for") if is_built_for else row


def _database(given: AnalysisOptions, path: str) -> _Row:
    """The compilation database, which needs no mention to be found."""
    from cudalint.frontend.compile_commands import DatabaseError, find_compile_commands, load_compile_commands

    absolute = os.path.abspath(path)
    folder = absolute if os.path.isdir(path) else os.path.dirname(absolute)
    found = given.compile_commands or find_compile_commands(folder)
    if found is None:
        return _Row("compile-commands", None, _DEFAULT)
    try:
        database = load_compile_commands(found)
    except DatabaseError as error:
        return _Row("compile-commands", None, f"not used: {error}")
    origin = _COMMAND_LINE if given.compile_commands else "found above the files"
    if os.path.isfile(path) and database.options_for(path) is None:
        origin += f"; it has no entry for {path}"
    return _Row("compile-commands", found, origin)


def _single(key: str, value: object, given: object, configured: object, config: Config | None) -> _Row:
    if given is not None:
        return _Row(key, value, _COMMAND_LINE)
    if configured is not None and config is not None:
        return _Row(key, value, config.place_of(key))
    return _Row(key, value, _DEFAULT)


def _added(key: str, given: tuple[str, ...], configured: tuple[str, ...], config: Config | None) -> Iterator[_Row]:
    """A list to which the configuration and the command line both add."""
    if configured and config is not None:
        yield _Row(key, configured, config.place_of(key))
    if given:
        yield _Row(key, given, _COMMAND_LINE)
    if not given and not configured:
        yield _Row(key, (), _DEFAULT)


def _rules(known: FileSettings, given: CommandLine, config: Config | None) -> Iterator[_Row]:
    selection = given.selection
    base = config or Config("")
    for key, own, configured in (
        ("select", selection.select, base.select or ()),
        ("extend-select", selection.extend_select, base.extend_select),
        ("ignore", selection.ignore, base.ignore),
    ):
        # The command line's `--select` replaces what the configuration says about rules.
        yield from _added(key, own, () if selection.select else configured, config)
    yield _Row("rules", tuple(r.code for r in registry.all_rules() if known.selection.wants(r)), "from the above")
    for pattern, rules, _ in base.per_file_ignores:
        yield _Row(f'per-file-ignores."{pattern}"', rules, base.place_of("per-file-ignores", pattern))
    yield from _thresholds(given, base)
    yield _single("min-share", known.min_share, given.min_share, base.min_share, config)
    for selector, severity in dict(base.severity).items():
        yield _Row(f"severity.{selector}", severity, base.place_of("severity", selector))


def _report(config: Config | None) -> Iterator[_Row]:
    """What `check` does with its findings where its command line says nothing of it."""
    base = config or Config("")
    yield _single("fail-on", base.fail_on or DEFAULT_FAIL_ON, None, base.fail_on, config)
    yield _single("format", base.format or default_format(), None, base.format, config)
    for format_, file in base.output:
        yield _Row(f"output.{format_}", file, base.place_of("output", format_))
    yield _single("baseline", base.baseline, None, base.baseline, config)
    yield _single("jobs", base.jobs or default_workers(), None, base.jobs, config)


def _thresholds(given: CommandLine, config: Config) -> Iterator[_Row]:
    origins: dict[tuple[str, str], tuple[float, str]] = {}
    for rule in registry.all_rules():
        origins.update({(rule.code, name): (value, _DEFAULT) for name, value in rule.thresholds.items()})
    for rule_name, name, value in config.thresholds:
        origins[code_of(rule_name), name] = value, config.place_of("thresholds", rule_name, name)
    for rule_name, name, value in given.thresholds:
        origins[code_of(rule_name), name] = value, _COMMAND_LINE
    for (code, name), (value, origin) in origins.items():
        yield _Row(f"thresholds.{code}.{name}", value, origin)


def _files(settings: Settings, config: Config | None) -> Iterator[_Row]:
    given = settings.command_line
    yield from _added("exclude", given.exclude, config.exclude if config else (), config)
    key = "respect-gitignore"
    configured = config.respect_gitignore if config and config.source_of(key) else None
    value = next((v for v in (given.respect_gitignore, configured) if v is not None), True)
    yield _single(key, value, given.respect_gitignore, configured, config)


def _lists(given: AnalysisOptions, config: Config | None) -> Iterator[_Row]:
    base = config or Config("")
    yield from _added("include-dirs", given.include_dirs, base.include_dirs, config)
    yield from _added("defines", given.defines, base.defines, config)
    yield from _added("assume", given.assumes, base.assume, config)


def _recordings(known: FileSettings, given: CommandLine, config: Config | None) -> _Row:
    """The recorded launches, which need no mention to be found."""
    configured = config.launches if config else None
    row = _single("launches", known.options.recordings, given.launches, configured, config)
    if row.origin == _DEFAULT and known.options.recordings:
        row = replace(row, origin="found above the files")
    not_used = "; ".join(f"{path}: {reason}" for path, reason in known.unusable)
    return replace(row, origin=f"not used: {not_used}") if not_used else row


def _launches(given: AnalysisOptions, config: Config | None) -> Iterator[_Row]:
    """Launches of kernels that have none in sight: the command line's comes before the configuration's."""
    if given.block is not None:
        yield _Row("block", given.block, _COMMAND_LINE)
        yield _Row("grid", given.grid, _COMMAND_LINE if given.grid else _DEFAULT)
        yield _Row("shared", given.shared or 0, _COMMAND_LINE if given.shared is not None else _DEFAULT)
    for kernel in config.kernels if config else ():
        assert config is not None
        for key in ("block", "grid", "shared"):
            value = getattr(kernel, key)
            if value is not None:
                place = config.place_of("kernels", kernel.pattern, key)
                yield _Row(f'kernels."{kernel.pattern}".{key}', value, place)
        for name, text in kernel.parameters:
            place = config.place_of("kernels", kernel.pattern, "parameters", name)
            yield _Row(f'kernels."{kernel.pattern}".parameters.{name}', text, place)
    for kernel_name, name, text in given.params:
        yield _Row(f"param {kernel_name + ':' if kernel_name else ''}{name}", text, _COMMAND_LINE)
