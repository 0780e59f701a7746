"""Configuration files: `cudalint.toml`, or the table `[tool.cudalint]` of `pyproject.toml`.

The file nearest to a source counts: of the folder that the source is in, or else of the nearest folder above it. It
counts alone, or on top of the one that it extends. Everything is checked when a file is loaded, and an error names the
file, the line and the key. How a file's settings and the command line's go together is the business of
`cudalint.project.settings`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.diagnostics import Severity
from cudalint.options.analysis import KernelSettings
from cudalint.project.config_entries import OWN_FILE, SHARED_FILE, TABLE, ConfigError, Entry, Names, RulesIgnored
from cudalint.project.toml_lines import Key, key_lines, line_of
from cudalint.system.disk.border import border_around, is_at_home, searched_upwards
from cudalint.system.disk.documents import DocumentError, toml_of
from cudalint.system.disk.regular import read_regular

__all__ = [
    "OWN_FILE", "SHARED_FILE", "Config", "ConfigError", "Names", "RulesIgnored", "as_shown", "find_config",
    "load_config",
]  # fmt: skip


class Config(Struct, frozen=True):
    """What a configuration file says, on top of what it extends. What it leaves open is None or empty."""

    path: str
    target: str | None = None
    select: Names | None = None
    extend_select: Names = ()
    ignore: Names = ()
    per_file_ignores: tuple[RulesIgnored, ...] = ()
    severity: tuple[tuple[str, Severity], ...] = ()
    """Rules (codes, starts of codes, names) and what their findings count as."""
    thresholds: tuple[tuple[str, str, float], ...] = ()
    """Rule (code or name), threshold, value."""
    min_share: float | None = None
    """Of a kernel's time or traffic, what findings of waste take at least."""
    exclude: Names = ()
    """Patterns as in `.gitignore`, from `folder_of("exclude")` on."""
    respect_gitignore: bool = True
    include_dirs: Names = ()
    """Like all other paths resolved against the file's folder."""
    defines: Names = ()
    std: str | None = None
    assume: Names = ()
    kernels: tuple[KernelSettings, ...] = ()
    launches: Names | None = None
    """Files of recorded launches; empty for none, None for the nearest one by the usual name."""
    only_recorded: bool | None = None
    fail_on: Severity | None = None
    format: str | None = None
    output: tuple[tuple[str, str], ...] = ()
    """The format and the path of each report that goes into a file."""
    baseline: str | None = None
    jobs: int | None = None
    lines: Mapping[Key, int] = field(default_factory=dict)
    """The line of each key, below the table of this program."""
    said: frozenset[Key] = frozenset()
    """The keys that the file has itself, and those of its tables."""
    base: Config | None = None
    """What it extends, which is in this one already."""

    def folders_outside(self, source: str) -> Names:
        """The `include-dirs` that lead out of the project of a source, which a file that may come with it can't name;
        the user's own, at home, can."""
        if is_at_home(self.path):
            return ()
        border = border_around(source)
        return tuple(folder for folder in self.include_dirs if border.problem_of(folder) is not None)

    def source_of(self, *key: str) -> Config | None:
        """The configuration that has a key: this one, or the nearest that is extended; None if none has it."""
        if key in self.said:
            return self
        return self.base.source_of(*key) if self.base is not None else None

    def folder_of(self, *key: str) -> str:
        """The folder of the file that has a key."""
        return os.path.dirname(os.path.abspath((self.source_of(*key) or self).path))

    def place_of(self, *key: str) -> str:
        """`pyproject.toml:12`."""
        source = self.source_of(*key) or self
        line = line_of(key, source.lines)
        return f"{source.path}:{line}" if line is not None else source.path


def find_config(folder: str) -> Config | None:
    """The configuration of the nearest folder, from this one upwards as far as `searched_upwards` goes, that has any;
    raises `ConfigError`."""
    for current in searched_upwards(os.path.abspath(folder)):
        for name in (OWN_FILE, SHARED_FILE):
            path = os.path.join(current, name)
            if os.path.isfile(path):
                config = _load(as_shown(path))
                if config is not None:
                    return config
    return None


def load_config(path: str) -> Config:
    """A configuration that the user names; raises `ConfigError`, also for a `pyproject.toml` that says nothing."""
    config = _load(path)
    if config is None:
        raise ConfigError(path, f"there is no table [{'.'.join(TABLE)}] in it")
    return config


def as_shown(path: str) -> str:
    """The path as a user would write it: relative, where the file is below the current folder."""
    try:
        relative = os.path.relpath(path)
    except ValueError:
        return path  # On another drive.
    return path if relative.startswith(os.pardir) else relative


def _load(path: str, extenders: Names = ()) -> Config | None:
    """None for a `pyproject.toml` without the table. `extenders` are the files that extend it, resolved."""
    text = _read(path)
    shared = os.path.basename(path) == SHARED_FILE
    if shared and TABLE[1] not in text:
        return None  # Most projects' file: spare it the parser.
    try:
        document = toml_of(text)
    except DocumentError as error:
        raise ConfigError(path, f"not valid TOML: {error}", error.line) from None
    lines = key_lines(text)
    if not shared:
        return _checked(Entry(path, "", lines, (), document), extenders)
    tool = document.get(TABLE[0])
    if not isinstance(tool, dict) or TABLE[1] not in tool:
        return None
    own = {key[2:]: line for key, line in lines.items() if key[:2] == TABLE}
    return _checked(Entry(path, ".".join(TABLE), own, (), tool[TABLE[1]]), extenders)


def _read(path: str) -> str:
    try:
        return read_regular(path).decode("utf-8")
    except OSError as error:
        raise ConfigError(path, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(path, f"not UTF-8 text (byte {error.start})") from None


def _checked(root: Entry, extenders: Names) -> Config:
    """The document as a `Config`."""
    # Most projects have no configuration, and then nothing needs to be known of what one may say.
    from cudalint.project.config_keys import EXTEND, READERS, read_path

    entries = root.known_items((*READERS, EXTEND))
    values = {_field(name): reader(entries[name]) for name, reader in READERS.items() if name in entries}
    own = Config(root.path, lines=root.lines, said=frozenset(_keys(root)), **values)  # type: ignore[arg-type]
    if EXTEND not in entries:
        return own
    base = _extended(entries[EXTEND], read_path(entries[EXTEND]), extenders)
    inherited = {_field(key): getattr(base, _field(key)) for key in READERS if (key,) not in own.said}
    # Single values and lists take the place of those that are extended, the entries of tables are added to them.
    tables = {
        # Of these the first that fits counts, of the others the last.
        "per_file_ignores": (*own.per_file_ignores, *base.per_file_ignores),
        "kernels": (*own.kernels, *base.kernels),
        "thresholds": (*base.thresholds, *own.thresholds),
        "severity": (*base.severity, *own.severity),
        "output": tuple({**dict(base.output), **dict(own.output)}.items()),
    }
    return replace(own, base=base, **{**inherited, **tables})


def _field(key: str) -> str:
    return key.replace("-", "_")


def _keys(entry: Entry) -> Iterator[Key]:
    for each in dict(entry.items()).values():
        yield each.key
        if isinstance(each.value, dict):
            yield from _keys(each)


def _extended(entry: Entry, path: str, extenders: Names) -> Config:
    """The configuration that one extends; `extenders` are the files that came before it."""
    chain = (*extenders, os.path.realpath(entry.path))
    if os.path.realpath(path) in chain:
        raise entry.error(f"comes back to a file that it started from: {path}")
    if not os.path.isfile(path):
        raise entry.error(f"names no file: {path}")
    base = _load(path, chain)
    if base is None:
        raise entry.error(f"names {path}, which has no table [{'.'.join(TABLE)}]")
    return base
