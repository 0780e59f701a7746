"""The lines of the files that findings point into."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from cudalint.source.lines import Lines, lines_of_file
from cudalint.system.disk.encoding import to_bytes

_TAB = 4


class SourceLines:
    """Reads files when their lines are asked for. Columns count bytes, so lines are kept as bytes."""

    def __init__(self, unsaved: Mapping[str, str] | None = None) -> None:
        self._lines: dict[str, Lines[bytes] | None] = {p: Lines(to_bytes(text)) for p, text in (unsaved or {}).items()}

    def line(self, path: str, number: int) -> bytes | None:
        """One line without its end; None where the file or the line is gone."""
        lines = self._all(path)
        return lines.line(number).rstrip(b"\r") if lines is not None and 1 <= number <= len(lines) else None

    def text(self, path: str) -> str:
        """The whole file; empty where it is gone."""
        lines = self._all(path)
        return lines.text.decode("utf-8", "replace") if lines is not None else ""

    def lines(self, path: str) -> list[bytes]:
        """All lines of a file, without their ends; none where it is gone."""
        return [line.rstrip(b"\r") for line in self._all(path) or ()]

    def _all(self, path: str) -> Lines[bytes] | None:
        if path not in self._lines:
            # A finding in a file that is gone is worth printing without its frame.
            self._lines[path] = lines_of_file(path)
        return self._lines[path]


def displayed(line: bytes) -> str:
    """The line as a terminal shows it: tabs as spaces, and no control characters."""
    text = line.decode("utf-8", "replace").expandtabs(_TAB)
    return "".join(" " if unicodedata.category(c) == "Cc" else c for c in text)


def display_column(line: bytes, column: int) -> int:
    """How many terminal cells stand before a byte column (from 1)."""
    return sum(map(_cells, displayed(line[: column - 1])))


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
