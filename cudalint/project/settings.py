"""What is in force for each file: its configuration and the command line together.

The command line goes before the configuration: its single values replace the configuration's, and its lists are
added to them. `--select` alone replaces everything that the configuration says about which rules run.
"""

from __future__ import annotations

import os

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.options.analysis import AnalysisOptions
from cudalint.project.config import Config, ConfigError, find_config, load_config
from cudalint.project.path_patterns import GitIgnored, PathPatterns
from cudalint.project.recordings import Recordings, RecordingsOfFolders
from cudalint.project.thresholds import Thresholds, by_rule
from cudalint.registry import Selection, matches
from cudalint.report.findings.severities import Severities

DEFAULT_MIN_SHARE = 0.1


class CommandLine(Struct, frozen=True):
    """What the user says for all files."""

    options: AnalysisOptions = field(default_factory=AnalysisOptions)
    target: str | None = None
    """None leaves it to the configuration, then to the compilation database; `options.target` is the default."""
    selection: Selection = field(default_factory=Selection)
    thresholds: tuple[tuple[str, str, float], ...] = ()
    min_share: float | None = None
    launches: tuple[str, ...] | None = None
    """Files of recorded launches, in the place of all others; None leaves it to the configuration, and then to what is
    found."""
    only_recorded: bool | None = None
    exclude: tuple[str, ...] = ()
    respect_gitignore: bool | None = None
    config: str | None = None
    """The one configuration file to use."""
    use_config: bool = True


class FileIgnores(Struct, frozen=True):
    """The rules that are not reported in some files."""

    entries: tuple[tuple[PathPatterns, tuple[str, ...]], ...] = ()

    def ignores(self, path: str, code: str, name: str) -> bool:
        """Whether findings of this rule are left out in this file."""
        return any(
            any(matches(selector, code, name) for selector in selectors) and patterns.says(path)
            for patterns, selectors in self.entries
        )


class FileSettings(Struct, frozen=True):
    """What is in force for one file."""

    options: AnalysisOptions
    selection: Selection = field(default_factory=Selection)
    thresholds: Thresholds = field(default_factory=dict)
    ignores: FileIgnores = field(default_factory=FileIgnores)
    severities: Severities = field(default_factory=Severities)
    min_share: float = DEFAULT_MIN_SHARE
    """Of a kernel's time and traffic, what findings of waste take at least to be reported."""
    config: Config | None = None
    unusable: tuple[tuple[str, str], ...] = ()
    """Files of recorded launches that would count if they could be used, each with the reason why it can't."""


class Settings:
    """Finds and keeps the settings of each folder."""

    def __init__(self, command_line: CommandLine) -> None:
        """Raises `ConfigError` if the file that the user names can't be used."""
        self.command_line = command_line
        self._named = load_config(command_line.config) if command_line.config is not None else None
        self._configs: dict[str, Config | ConfigError | None] = {}
        self._recordings = RecordingsOfFolders(command_line.launches)
        self._of_config: dict[tuple[str | None, tuple[str, ...], Recordings], FileSettings] = {}
        self._excluded = PathPatterns(os.getcwd(), command_line.exclude)
        self._excluded_by: dict[str, PathPatterns] = {}
        self._git_ignored = GitIgnored()

    def of(self, path: str) -> FileSettings:
        """What is in force for a file; raises `ConfigError`."""
        folder = os.path.dirname(os.path.abspath(path))
        config = self.config_of(folder)
        recordings = self._recordings.of(folder, config)
        outside = config.folders_outside(path) if config is not None and self.command_line.config is None else ()
        key = (config.path if config else None, outside, recordings)
        if key not in self._of_config:
            self._of_config[key] = _with_recordings(combine(self.command_line, config, outside), recordings)
        known = self._of_config[key]
        return replace(known, options=self._as_built(path, known.options, config))

    def _as_built(self, path: str, options: AnalysisOptions, config: Config | None) -> AnalysisOptions:
        """With what the compile command says and nobody else."""
        target, registers = _built_for(path, options.compile_commands)
        if self.command_line.target or (config is not None and config.target):
            target = None
        else:
            target = target or _least_built_for(path, options.target)
        registers = registers if options.max_registers is None else options.max_registers
        return replace(options, target=target or options.target, max_registers=registers)

    def config_of(self, folder: str) -> Config | None:
        """The configuration that counts in a folder; raises `ConfigError`."""
        if not self.command_line.use_config or self._named is not None:
            return self._named
        if folder not in self._configs:
            try:
                self._configs[folder] = find_config(folder)
            except ConfigError as error:
                self._configs[folder] = error
        found = self._configs[folder]
        if isinstance(found, ConfigError):
            raise found
        return found

    def excludes(self, path: str, is_folder: bool) -> bool:
        """Whether a file or a folder is not to be looked at, if the folder that it is in is."""
        if self._excluded.says(path, is_folder):
            return True
        try:
            config = self.config_of(os.path.dirname(os.path.abspath(path)))
        except ConfigError:
            return False  # Whoever asks for the file's settings gets the error.
        if config is not None and self._exclusion_of(config).says(path, is_folder):
            return True
        respects = self.command_line.respect_gitignore
        if respects is None:
            respects = config is None or config.respect_gitignore
        return respects and self._git_ignored(path, is_folder)

    def _exclusion_of(self, config: Config) -> PathPatterns:
        if config.path not in self._excluded_by:
            self._excluded_by[config.path] = PathPatterns(config.folder_of("exclude"), config.exclude)
        return self._excluded_by[config.path]


def _built_for(path: str, database: str | None) -> tuple[str | None, int | None]:
    """The GPU that a file is compiled for, by the compilation database, and the most registers; None where that names
    none that is known."""
    from cudalint.frontend.compile_commands import DatabaseError, database_for
    from cudalint.hardware.targets import UnknownTarget, find_target

    try:
        commands = database_for(path, database)
        if commands is None:
            return None, None
        architecture, registers = commands.architecture_for(path), commands.max_registers_for(path)
    except DatabaseError:
        return None, None  # Whoever parses the file says of it.
    try:
        return (find_target(architecture).name if architecture else None), registers
    except UnknownTarget:
        return None, registers


def _least_built_for(path: str, target: str) -> str | None:
    """The GPU that a file is compiled for at least, by the build files beside it, where that is beyond the target."""
    from cudalint.hardware.features import smallest_from
    from cudalint.hardware.targets import find_target
    from cudalint.toolchain.buildfiles.architectures import least_architecture

    number = least_architecture(path)
    if number is None or divmod(number, 10) <= find_target(target).compute_capability:
        return None
    found = smallest_from(divmod(number, 10))
    return found.name if found is not None else None


def combine(command_line: CommandLine, config: Config | None, outside: tuple[str, ...] = ()) -> FileSettings:
    """The command line on top of a configuration, but for those of its `include-dirs` that it may not name."""
    given = command_line.options
    if config is None:
        options = replace(
            given, target=command_line.target or given.target, only_recorded=bool(command_line.only_recorded)
        )
        least = DEFAULT_MIN_SHARE if command_line.min_share is None else command_line.min_share
        return FileSettings(options, command_line.selection, by_rule(command_line.thresholds), min_share=least)
    options = replace(
        given,
        target=command_line.target or config.target or given.target,
        include_dirs=(*given.include_dirs, *(folder for folder in config.include_dirs if folder not in outside)),
        defines=(*config.defines, *given.defines),
        std=given.std or config.std,
        assumes=(*config.assume, *given.assumes),
        kernels=config.kernels,
        only_recorded=bool(config.only_recorded if command_line.only_recorded is None else command_line.only_recorded),
    )
    base = Selection(config.select or (), config.ignore, config.extend_select)
    selection = replace(command_line.selection, base=base)
    thresholds = by_rule((*config.thresholds, *command_line.thresholds))
    shares = (command_line.min_share, config.min_share, DEFAULT_MIN_SHARE)
    least = next(share for share in shares if share is not None)
    severities = Severities(config.severity)
    return FileSettings(options, selection, thresholds, _ignores(config), severities, least, config)


def _with_recordings(known: FileSettings, recordings: Recordings) -> FileSettings:
    return replace(
        known, options=replace(known.options, recordings=recordings.paths), unusable=recordings.unusable
    )  # fmt: skip


def _ignores(config: Config) -> FileIgnores:
    return FileIgnores(
        tuple((PathPatterns(folder, (pattern,)), rules) for pattern, rules, folder in config.per_file_ignores)
    )
