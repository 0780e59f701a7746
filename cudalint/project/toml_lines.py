"""On which line of a TOML document each key stands: `tomllib` gives values without places, and errors need them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from cudalint.regexes import regex

Key = tuple[str, ...]

_PART = regex(r"""\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([\w-]+))\s*""")
_NOTABLE = regex(r"""#.*|["]{3}|'{3}|"(?:[^"\\]|\\.)*"|'[^']*'""")


def key_lines(text: str) -> Mapping[Key, int]:
    """The line (from 1) of every table and every key that begins a line. Keys of inline tables are not listed: they
    stand where their table does."""
    found: dict[Key, int] = {}
    table: Key = ()
    for number, line in _lines_outside_strings(text):
        stripped = line.strip()
        if stripped.startswith("["):
            table, _ = _key(stripped.lstrip("["))
            for length in range(1, len(table) + 1):
                found.setdefault(table[:length], number)
            continue
        key, rest = _key(stripped)
        if key and rest.startswith("="):
            for length in range(1, len(key) + 1):
                found.setdefault((*table, *key[:length]), number)
    return found


def line_of(key: Key, lines: Mapping[Key, int]) -> int | None:
    """The line of a key, or of the nearest table around it that has one."""
    for length in range(len(key), -1, -1):
        if key[:length] in lines:
            return lines[key[:length]]
    return None


def _lines_outside_strings(text: str) -> Iterator[tuple[int, str]]:
    """Lines that don't begin inside of a multi-line string."""
    inside = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if not inside:
            yield number, line
        inside = _quotes_after(line, inside)


def _quotes_after(line: str, inside: str) -> str:
    """The quotes of the multi-line string that is open at the end of a line, where `inside` was at its start."""
    position = 0
    while True:
        if inside:
            position = line.find(inside, position)
            if position < 0:
                return inside
            position, inside = position + len(inside), ""
        match = _NOTABLE.search(line, position)
        if match is None:
            return ""
        position = match.end()
        if match[0] in ('"""', "'''"):
            inside = match[0]


def _key(text: str) -> tuple[Key, str]:
    """The dotted key at the start of a text, and what follows it."""
    parts: list[str] = []
    position = 0
    while match := _PART.match(text, position):
        parts.append(next(group for group in match.groups() if group is not None))
        position = match.end()
        if text[position : position + 1] != ".":
            break
        position += 1
    return tuple(parts), text[position:]
