"""Configuration files: `cudalint.toml`, or the table `[tool.cudalint]` of `pyproject.toml`.

The file nearest to a source counts: of the folder that the source is in, or else of the nearest folder above it. It
counts alone, or on top of the one that it extends. Everything is checked when a file is loaded, and an error names the
file, the line and the key. How a file's settings and the command line's go together is the business of
`cudalint.project.settings`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.diagnostics import Severity
from cudalint.options.analysis import KernelSettings
from cudalint.project.config_paths import problem_of_read, problem_of_written, resolved
from cudalint.project.toml_lines import Key, key_lines, line_of
from cudalint.system.disk.border import border_around, is_at_home, searched_upwards
from cudalint.system.disk.documents import DocumentError, toml_of
from cudalint.system.disk.regular import read_regular

OWN_FILE = "cudalint.toml"
SHARED_FILE = "pyproject.toml"
_TABLE: Key = ("tool", "cudalint")


class ConfigError(ValueError):
    """A configuration file that can't be used; `path` is the file, and the message says where in it and why."""

    def __init__(self, path: str, message: str, line: int | None = None) -> None:
        super().__init__(path, message, line)
        self.path = path
        self.message = f"{message} (line {line})" if line is not None else message

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


Names = tuple[str, ...]


class RulesIgnored(NamedTuple):
    """Rules that are not reported in some files."""

    pattern: str
    """As in `.gitignore`, from the folder on."""
    rules: Names
    folder: str
    """That of the file which says so."""


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

    def teller_of(self, *key: str) -> Config | None:
        """The configuration that has a key: this one, or the nearest that is extended; None if none has it."""
        if key in self.said:
            return self
        return self.base.teller_of(*key) if self.base is not None else None

    def folder_of(self, *key: str) -> str:
        """The folder of the file that has a key."""
        return os.path.dirname(os.path.abspath((self.teller_of(*key) or self).path))

    def place_of(self, *key: str) -> str:
        """`pyproject.toml:12`."""
        teller = self.teller_of(*key) or self
        line = line_of(key, teller.lines)
        return f"{teller.path}:{line}" if line is not None else teller.path


def find_config(folder: str) -> Config | None:
    """The configuration of the nearest folder, from this one upwards as far as `searched_upwards` goes, that has any;
    raises `ConfigError`."""
    for current in searched_upwards(os.path.abspath(folder)):
        for name in (OWN_FILE, SHARED_FILE):
            path = os.path.join(current, name)
            if os.path.isfile(path):
                config = _load(_shown(path))
                if config is not None:
                    return config
    return None


def load_config(path: str) -> Config:
    """A configuration that the user names; raises `ConfigError`, also for a `pyproject.toml` that says nothing."""
    config = _load(path)
    if config is None:
        raise ConfigError(path, f"there is no table [{'.'.join(_TABLE)}] in it")
    return config


def _shown(path: str) -> str:
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
    if shared and _TABLE[1] not in text:
        return None  # Most projects' file: spare it the parser.
    try:
        document = toml_of(text)
    except DocumentError as error:
        raise ConfigError(path, f"not valid TOML: {error}", error.line) from None
    lines = key_lines(text)
    if not shared:
        return _checked(_Entry(path, "", lines, (), document), extenders)
    tool = document.get(_TABLE[0])
    if not isinstance(tool, dict) or _TABLE[1] not in tool:
        return None
    own = {key[2:]: line for key, line in lines.items() if key[:2] == _TABLE}
    return _checked(_Entry(path, ".".join(_TABLE), own, (), tool[_TABLE[1]]), extenders)


def _read(path: str) -> str:
    try:
        return read_regular(path).decode("utf-8")
    except OSError as error:
        raise ConfigError(path, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(path, f"not UTF-8 text (byte {error.start})") from None


# --- checking ----------------------------------------------------------------------------------------------


class _Entry(Struct, frozen=True):
    """A value of the document, with the key that errors name."""

    path: str
    prefix: str
    lines: Mapping[Key, int]
    key: Key
    value: object

    def error(self, message: str) -> ConfigError:
        name = ".".join(part for part in (self.prefix, *map(_quoted, self.key)) if part)
        return ConfigError(self.path, f"`{name}` {message}", self.line)

    @property
    def line(self) -> int | None:
        return line_of(self.key, self.lines)

    def items(self) -> Iterator[tuple[str, _Entry]]:
        if not isinstance(self.value, dict):
            raise self.error(f"has to be a table, and is {_kind(self.value)}")
        for name, value in self.value.items():
            yield name, _Entry(self.path, self.prefix, self.lines, (*self.key, name), value)

    def known_items(self, known: Iterable[str]) -> dict[str, _Entry]:
        """The table's entries, none of which may have another name."""
        entries = dict(self.items())
        for name, entry in entries.items():
            if name not in known:
                raise entry.error(f"is not a setting; {_hint(name, known)}")
        return entries

    def text(self) -> str:
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.error(f"has to be a string, and is {_kind(self.value)}")
        return self.value.strip()

    def texts(self) -> Names:
        """A list of strings."""
        if not isinstance(self.value, list):
            raise self.error(f"has to be a list of strings, and is {_kind(self.value)}")
        for value in self.value:
            if not isinstance(value, str) or not value.strip():
                raise self.error(f"has to be a list of strings, and one of them is {_kind(value)}")
        return tuple(value.strip() for value in self.value)

    def number(self) -> float:
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            raise self.error(f"has to be a number, and is {_kind(self.value)}")
        if not 0 <= self.value < float("inf"):
            raise self.error("has to be a number that is not negative")
        return float(self.value)

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.error(f"has to be true or false, and is {_kind(self.value)}")
        return self.value


def _hint(name: str, known: Iterable[str]) -> str:
    """What somebody may have meant who wrote a name that is none."""
    import difflib

    close = difflib.get_close_matches(name, list(known), 1)
    if close:
        return f"did you mean `{close[0]}`?"
    if name == _TABLE[0]:
        return f"in {OWN_FILE} all keys stand without `{'.'.join(_TABLE)}`"
    if name in ("block", "grid", "shared", "parameters"):
        return f"it belongs to the kernels that it is for: [kernels.\"*\"] {name} = ..."
    if name.replace("_", "-") in _OF_THE_COMMAND_LINE:
        return f"it is an option of the command line, `--{name.replace('_', '-')}`"
    return f"there are {', '.join(known)}"


_OF_THE_COMMAND_LINE = frozenset(
    {
        "fail-on-incomplete", "write-baseline", "include-errors", "diff", "statistics", "sort", "show", "color",
        "quiet", "exit-zero", "force-launch", "registers", "maxrregcount", "cubin", "ptxas", "param", "race-scope",
        "cuda-path", "compile-commands", "force-exclude", "time-limit",
    }
)  # fmt: skip
"""What belongs to a run and not to a project, or has another name in a configuration."""


def _quoted(part: str) -> str:
    return part if part.replace("-", "").replace("_", "").isalnum() else f'"{part}"'


def _kind(value: object) -> str:
    match value:
        case bool():
            return "true or false"
        case str():
            return "a string" if value.strip() else "an empty string"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case dict():
            return "a table"
    return "a date"


def _checked(root: _Entry, extenders: Names) -> Config:
    """The document as a `Config`."""
    entries = root.known_items((*_READERS, _EXTEND))
    values = {_field(name): reader(entries[name]) for name, reader in _READERS.items() if name in entries}
    config = Config(root.path, lines=root.lines, said=frozenset(_keys(root)), **values)  # type: ignore[arg-type]
    extend = entries.get(_EXTEND)
    return config if extend is None else _on_top_of(config, _extended(extend, extenders))


def _field(key: str) -> str:
    return key.replace("-", "_")


def _keys(entry: _Entry) -> Iterator[Key]:
    for each in dict(entry.items()).values():
        yield each.key
        if isinstance(each.value, dict):
            yield from _keys(each)


def _extended(entry: _Entry, extenders: Names) -> Config:
    folder = os.path.dirname(entry.path)
    problem = problem_of_read(folder, entry.text())
    if problem is not None:
        raise entry.error(f"{problem}: {entry.text()}")
    path = resolved(folder, entry.text())
    chain = (*extenders, os.path.realpath(entry.path))
    if os.path.realpath(path) in chain:
        raise entry.error(f"comes back to a file that it started from: {path}")
    if not os.path.isfile(path):
        raise entry.error(f"names no file: {path}")
    base = _load(path, chain)
    if base is None:
        raise entry.error(f"names {path}, which has no table [{'.'.join(_TABLE)}]")
    return base


def _on_top_of(own: Config, base: Config) -> Config:
    """Single values and lists take the place of those that are extended, the entries of tables are added to them."""
    inherited = {_field(key): getattr(base, _field(key)) for key in _READERS if (key,) not in own.said}
    tables = {
        # Of these the first that fits counts, of the others the last.
        "per_file_ignores": (*own.per_file_ignores, *base.per_file_ignores),
        "kernels": (*own.kernels, *base.kernels),
        "thresholds": (*base.thresholds, *own.thresholds),
        "severity": (*base.severity, *own.severity),
        "output": tuple({**dict(base.output), **dict(own.output)}.items()),
    }
    return replace(own, base=base, **{**inherited, **tables})


def _target(entry: _Entry) -> str:
    from cudalint.hardware.targets import UnknownTarget, find_target

    try:
        find_target(entry.text())
    except UnknownTarget as error:
        raise entry.error(f"names no GPU: {error}") from None
    return entry.text()


def _selectors(entry: _Entry) -> Names:
    from cudalint.registry import UnknownRule, check_selectors

    try:
        check_selectors(entry.texts())
    except UnknownRule as error:
        raise entry.error(f"names no rule: {error}") from None
    return entry.texts()


def _select(entry: _Entry) -> Names:
    selectors = _selectors(entry)
    if not selectors:
        raise entry.error("is empty; without it, the rules run that are on by default")
    return selectors


def _per_file_ignores(entry: _Entry) -> tuple[RulesIgnored, ...]:
    folder = os.path.dirname(os.path.abspath(entry.path))
    return tuple(RulesIgnored(_pattern(rules, pattern), _selectors(rules), folder) for pattern, rules in entry.items())


def _severity(entry: _Entry) -> Severity:
    from cudalint.report.findings.results import SEVERITIES

    text = entry.text()
    for severity in SEVERITIES:
        if text == severity:
            return severity
    raise entry.error(f"is `{text}`, and has to be one of {', '.join(SEVERITIES)}")


def _severities(entry: _Entry) -> tuple[tuple[str, Severity], ...]:
    from cudalint.registry import UnknownRule, check_selectors

    found = []
    for selector, severity in entry.items():
        try:
            check_selectors((selector,))
        except UnknownRule as error:
            raise severity.error(f"names no rule: {error}") from None
        found.append((selector, _severity(severity)))
    return tuple(found)


def _format(entry: _Entry) -> str:
    from cudalint.project.formats import FORMATS

    if entry.text() not in FORMATS:
        raise entry.error(f"is `{entry.text()}`, and has to be one of {', '.join(FORMATS)}")
    return entry.text()


def _output(entry: _Entry) -> tuple[tuple[str, str], ...]:
    from cudalint.project.formats import FORMATS, OUTPUT_FORMATS

    folder = os.path.dirname(entry.path)
    found: list[tuple[str, str]] = []
    for format_, path in entry.items():
        known = next((entry for name, entry in OUTPUT_FORMATS.items() if name == format_), None)
        if known is None:
            raise path.error(f"is no format; {_hint(format_, FORMATS)}")
        problem = problem_of_written(folder, path.text(), known.endings)
        if problem is not None:
            raise path.error(f"{problem}: {path.text()}")
        if any(os.path.realpath(resolved(folder, path.text())) == os.path.realpath(other) for _, other in found):
            raise path.error(f"names the file of another report: {path.text()}")
        found.append((format_, resolved(folder, path.text())))
    return tuple(found)


def _baseline(entry: _Entry) -> str:
    folder = os.path.dirname(entry.path)
    problem = problem_of_read(folder, entry.text())
    if problem is not None:
        raise entry.error(f"{problem}: {entry.text()}")
    return resolved(folder, entry.text())


def _share(entry: _Entry) -> float:
    share = entry.number()
    if share > 1:
        raise entry.error("is a share, such as 0.01 for 1%, and more than 1")
    return share


def _jobs(entry: _Entry) -> int:
    if isinstance(entry.value, bool) or not isinstance(entry.value, int) or entry.value < 1:
        raise entry.error("has to be a whole number that is at least 1")
    return entry.value


def _patterns(entry: _Entry) -> Names:
    return tuple(_pattern(entry, text) for text in entry.texts())


def _pattern(entry: _Entry, text: str) -> str:
    from cudalint.project.path_patterns import BAD_PATTERN, bad_pattern

    if bad_pattern((text,)) is not None:
        raise entry.error(f"has the pattern `{text}`, which {BAD_PATTERN}")
    return text


def _thresholds(entry: _Entry) -> tuple[tuple[str, str, float], ...]:
    from cudalint.project.thresholds import UnknownThreshold, check_threshold

    found = []
    for rule, settings in entry.items():
        for name, value in settings.items():
            try:
                check_threshold(rule, name)
            except UnknownThreshold as error:
                raise value.error(f"is no threshold: {error}") from None
            found.append((rule, name, value.number()))
    return tuple(found)


def _folders(entry: _Entry) -> Names:
    base = os.path.dirname(entry.path)
    return tuple(resolved(base, folder) for folder in entry.texts())


def _defines(entry: _Entry) -> Names:
    from cudalint.options.analysis import is_define

    for text in entry.texts():
        if not is_define(text):
            raise entry.error(f"has `{text}`, which has not the form NAME or NAME=VALUE")
    return entry.texts()


def _standard(entry: _Entry) -> str:
    from cudalint.options.analysis import is_standard

    if not is_standard(entry.text()):
        raise entry.error("names no C++ standard; write one such as `c++17`")
    return entry.text()


def _assumptions(entry: _Entry) -> Names:
    from cudalint.options.annotations import parse_assumption
    from cudalint.options.expressions import ExpressionError

    for text in entry.texts():
        try:
            parse_assumption(text)
        except ExpressionError as error:
            raise entry.error(f"can't be used: {error}") from None
    return entry.texts()


# --- kernels -----------------------------------------------------------------------------------------------

_KERNEL_KEYS = ("block", "grid", "shared", "parameters")


def _kernels(entry: _Entry) -> tuple[KernelSettings, ...]:
    return tuple(_kernel(pattern, settings) for pattern, settings in entry.items())


def _kernel(pattern: str, entry: _Entry) -> KernelSettings:
    entries = entry.known_items(_KERNEL_KEYS)
    launch = {name: _launch_part(name, value) for name, value in entries.items() if name != "parameters"}
    if launch and "block" not in launch:
        raise entry.error("gives a launch without a `block`")
    parameters = entries.get("parameters")
    values = [(name, _expression(value)) for name, value in parameters.items()] if parameters else []
    line = entries["block"].line if launch else entry.line
    return KernelSettings(pattern, parameters=tuple(values), path=entry.path, line=line, **launch)


def _launch_part(name: str, entry: _Entry) -> str:
    """`256`, `"32, 8"`, `[32, "TILE"]` or `"dim3(32, 8)"`, as one expression; shared memory is a single number."""
    from cudalint.options.annotations import split_arguments
    from cudalint.options.expressions import parse_expression
    from cudalint.options.limits import problem_of_expression, problem_of_texts

    if isinstance(entry.value, list):
        parts = [_expression(_Entry(entry.path, entry.prefix, entry.lines, entry.key, v)) for v in entry.value]
    else:
        parts = [_expression_text(entry, part) for part in split_arguments(_as_text(entry))]
    if len(parts) == 1:
        problem = problem_of_expression(name, parse_expression(parts[0]))
    else:
        problem = problem_of_texts(name, parts) if parts else "is empty"
    if problem:
        raise entry.error(problem)
    return parts[0] if len(parts) == 1 else f"dim3({', '.join(parts)})"


def _expression(entry: _Entry) -> str:
    return _expression_text(entry, _as_text(entry))


def _as_text(entry: _Entry) -> str:
    if isinstance(entry.value, (int, float)) and not isinstance(entry.value, bool):
        return str(entry.value)
    if isinstance(entry.value, str) and entry.value.strip():
        return entry.value.strip()
    raise entry.error(f"has to be a number or a C expression in a string, and is {_kind(entry.value)}")


def _expression_text(entry: _Entry, text: str) -> str:
    from cudalint.options.expressions import ExpressionError, parse_expression

    try:
        parse_expression(text)
    except ExpressionError as error:
        raise entry.error(f"can't be used: {error}") from None
    return text


_EXTEND = "extend"

_READERS: Mapping[str, Callable[[_Entry], object]] = {
    "target": _target,
    "select": _select,
    "extend-select": _selectors,
    "ignore": _selectors,
    "per-file-ignores": _per_file_ignores,
    "thresholds": _thresholds,
    "exclude": _patterns,
    "respect-gitignore": _Entry.flag,
    "include-dirs": _folders,
    "defines": _defines,
    "std": _standard,
    "assume": _assumptions,
    "kernels": _kernels,
    "severity": _severities,
    "min-share": _share,
    "fail-on": _severity,
    "format": _format,
    "output": _output,
    "baseline": _baseline,
    "jobs": _jobs,
}

SETTINGS = (_EXTEND, *_READERS)
"""All keys."""
