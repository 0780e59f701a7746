"""What holds for a whole run of `cudalint check`: what its command line says, and else the configuration of the folder
that its paths have in common."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence

from msgspec import Struct

from cudalint.diagnostics import Severity
from cudalint.project.config import Config, ConfigError
from cudalint.project.settings import Settings
from cudalint.report.findings.results import Failure
from cudalint.run.api.rendering import Output, default_format
from cudalint.run.pool import default_workers

DEFAULT_FAIL_ON: Severity = "warning"


class Given(Struct, frozen=True):
    """What the command line says of the run; None and nothing leave it to the configuration."""

    fail_on: Severity | None = None
    format: str | None = None
    outputs: tuple[Output, ...] = ()
    baseline: str | None = None
    wants_baseline: bool = True
    is_in_part: bool = False
    """Whether it is asked for some files that changed, as hooks of commits do; then the configuration's reports, which
    are of the whole project, stay as they are."""
    jobs: int | None = None


class RunSettings(Struct, frozen=True):
    """What is in force."""

    fail_on: Severity
    format: str
    outputs: tuple[Output, ...]
    baseline: str | None
    jobs: int
    failure: Failure | None = None
    """The configuration of the run, where it can't be used."""


def run_settings(given: Given, settings: Settings, paths: Sequence[str]) -> RunSettings:
    """The command line on top of the configuration. Reports of both are written, but one file only once."""
    failure = None
    config: Config | None = None
    try:
        config = settings.config_of(common_folder(paths))
    except ConfigError as error:
        failure = Failure(error.path, error.message)
    config = config or Config("")
    named = {os.path.realpath(output.path) for output in given.outputs}
    configured = () if given.is_in_part else config.output
    more = (Output(format_, path) for format_, path in configured if os.path.realpath(path) not in named)
    return RunSettings(
        given.fail_on or config.fail_on or DEFAULT_FAIL_ON,
        given.format or config.format or default_format(),
        (*given.outputs, *more),
        given.baseline or (config.baseline if given.wants_baseline else None),
        # A configuration that comes with a repository can spare this machine, and not load it with more.
        given.jobs or min(config.jobs or default_workers(), default_workers()),
        failure,
    )


def common_folder(paths: Sequence[str]) -> str:
    """The folder in which all paths are that a user names; the current one where they have none in common."""
    folders = [_folder_of(path) for path in paths if path != "-"]
    try:
        return os.path.commonpath(folders)
    except ValueError:
        return os.getcwd()  # No path, or on several drives.


def _folder_of(path: str) -> str:
    absolute = os.path.abspath(path)
    while not os.path.exists(absolute) and glob.has_magic(absolute):
        absolute = os.path.dirname(absolute)
    return absolute if os.path.isdir(absolute) else os.path.dirname(absolute)
