"""Values of a configuration file, each with the key that errors name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from cudalint.project.toml_lines import Key, line_of

OWN_FILE = "cudalint.toml"
SHARED_FILE = "pyproject.toml"
TABLE: Key = ("tool", "cudalint")

Names = tuple[str, ...]


class ConfigError(ValueError):
    """A configuration file that can't be used; `path` is the file, and the message says where in it and why."""

    def __init__(self, path: str, message: str, line: int | None = None) -> None:
        super().__init__(path, message, line)
        self.path = path
        self.message = f"{message} (line {line})" if line is not None else message

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class RulesIgnored(NamedTuple):
    """Rules that are not reported in some files."""

    pattern: str
    """As in `.gitignore`, from the folder on."""
    rules: Names
    folder: str
    """That of the file which says so."""


class Entry(Struct, frozen=True):
    """A value of the document, with the key that errors name."""

    path: str
    prefix: str
    lines: Mapping[Key, int]
    key: Key
    value: object

    def error(self, message: str) -> ConfigError:
        name = ".".join(part for part in (self.prefix, *map(_quoted, self.key)) if part)
        return ConfigError(self.path, f"`{name}` {message}", self.line)

    @contextmanager
    def refused(self, what: str) -> Iterator[None]:
        """What is said of a value that whoever reads it refuses, by a ValueError."""
        try:
            yield
        except ConfigError:
            raise
        except ValueError as error:
            raise self.error(f"{what}: {error}") from None

    @property
    def line(self) -> int | None:
        return line_of(self.key, self.lines)

    def items(self) -> Iterator[tuple[str, Entry]]:
        if not isinstance(self.value, dict):
            raise self.error(f"has to be a table, and is {kind_of(self.value)}")
        for name, value in self.value.items():
            yield name, replace(self, key=(*self.key, name), value=value)

    def known_items(self, known: Iterable[str]) -> dict[str, Entry]:
        """The table's entries, none of which may have another name."""
        entries = dict(self.items())
        for name, entry in entries.items():
            if name not in known:
                raise entry.error(f"is not a setting; {hint(name, known)}")
        return entries

    def text(self) -> str:
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.error(f"has to be a string, and is {kind_of(self.value)}")
        return self.value.strip()

    def texts(self) -> Names:
        """A list of strings."""
        if not isinstance(self.value, list):
            raise self.error(f"has to be a list of strings, and is {kind_of(self.value)}")
        for value in self.value:
            if not isinstance(value, str) or not value.strip():
                raise self.error(f"has to be a list of strings, and one of them is {kind_of(value)}")
        return tuple(value.strip() for value in self.value)

    def number(self) -> float:
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            raise self.error(f"has to be a number, and is {kind_of(self.value)}")
        if not 0 <= self.value < float("inf"):
            raise self.error("has to be a number that is not negative")
        return float(self.value)

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.error(f"has to be true or false, and is {kind_of(self.value)}")
        return self.value


def hint(name: str, known: Iterable[str]) -> str:
    """What somebody may have meant who wrote a name that is none."""
    import difflib

    close = difflib.get_close_matches(name, list(known), 1)
    if close:
        return f"did you mean `{close[0]}`?"
    if name == TABLE[0]:
        return f"in {OWN_FILE} all keys stand without `{'.'.join(TABLE)}`"
    if name in ("block", "grid", "shared", "parameters"):
        return f"it belongs to the kernels that it is for: [kernels.\"*\"] {name} = ..."
    if name.replace("_", "-") in _OF_THE_COMMAND_LINE:
        return f"it is an option of the command line, `--{name.replace('_', '-')}`"
    return f"there are {', '.join(known)}"


_OF_THE_COMMAND_LINE = frozenset(
    {
        "fail-on-incomplete", "write-baseline", "include-errors", "diff", "statistics", "history", "watch", "sort",
        "show", "color", "quiet", "exit-zero", "force-launch", "registers", "maxrregcount", "cubin", "ptxas", "param",
        "race-scope",
        "cuda-path", "compile-commands", "force-exclude", "time-limit",
        "no-launches",
    }
)  # fmt: skip
"""What belongs to a run and not to a project, or has another name in a configuration."""


def _quoted(part: str) -> str:
    return part if part.replace("-", "").replace("_", "").isalnum() else f'"{part}"'


def kind_of(value: object) -> str:
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


