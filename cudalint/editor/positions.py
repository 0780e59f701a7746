"""Places and positions: cudalint counts lines from 1 and bytes from 1, an editor lines from 0 and characters from 0 in
the units that client and server agree on, which is UTF-16 unless they say otherwise."""

from __future__ import annotations

from typing import Literal

from lsprotocol.types import Position, Range

from cudalint.facts import Place
from cudalint.report.findings.sources import SourceLines
from cudalint.system.disk.encoding import to_bytes

Encoding = Literal["utf-8", "utf-16", "utf-32"]
_UNIT = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
_CODEC = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}


class Positions:
    """Of files as the editor holds them, and of others as they are on disk."""

    def __init__(self, sources: SourceLines, encoding: Encoding) -> None:
        self._sources, self._encoding = sources, encoding

    def range_of(self, place: Place) -> Range:
        start = self._position(place.path, place.line, place.column)
        return Range(start, self._position(place.path, place.end_line, place.end_column))

    def _position(self, path: str, line: int, column: int) -> Position:
        before = (self._sources.line(path, line) or b"")[: column - 1]
        units = len(before.decode("utf-8", "replace").encode(_CODEC[self._encoding])) // _UNIT[self._encoding]
        return Position(max(0, line - 1), units)

    def place_of(self, path: str, position: Position) -> tuple[int, int]:
        """Line and byte column."""
        text = (self._sources.line(path, position.line + 1) or b"").decode("utf-8", "replace")
        units = text.encode(_CODEC[self._encoding])[: position.character * _UNIT[self._encoding]]
        before = units.decode(_CODEC[self._encoding], "ignore")
        return position.line + 1, len(to_bytes(before)) + 1


def is_in(line: int, column: int, place: Place) -> bool:
    """Whether a position is in a place, or at its end."""
    return (place.line, place.column) <= (line, column) <= (place.end_line, place.end_column)


def size(place: Place) -> tuple[int, int]:
    """By which the narrowest of several places is found."""
    return place.end_line - place.line, place.end_column - place.column


def ranges_meet(one: Range, other: Range) -> bool:
    return _key(one.start) <= _key(other.end) and _key(other.start) <= _key(one.end)


def _key(position: Position) -> tuple[int, int]:
    return position.line, position.character
