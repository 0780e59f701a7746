"""Where things stand: spans, the text of the source, and whose file it is."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from cudalint import ir
from cudalint.frontend import cursors
from cudalint.frontend.cursors import Cursor, Location

_IN_MACRO: Final = 1 << 31
"""Clang sets this bit in the encoding of a location that stands in a macro expansion."""


@dataclass(slots=True, eq=False)
class File:
    path: str
    text: bytes
    lines: list[int]
    """The offset of each line's first byte."""
    is_user: bool


class Position(NamedTuple):
    file: File
    offset: int
    line: int
    column: int


class Sources:
    """Turns clang's locations into lines and columns.

    Asking libclang for each place costs more than everything else that is done with a node, so that the offset is
    taken from the location's encoding; clang is asked once for each file and for each macro.
    """

    def __init__(self, unit: int, main_path: str, is_user: Callable[[str], bool]) -> None:
        self._unit = unit
        self._is_user = is_user
        self._files: dict[int, File] = {}
        self._bases: list[int] = []
        self._inclusions: list[File] = []
        """The files in the order of `_bases`, from which clang numbers the bytes of each inclusion."""
        self._macros: dict[int, Position] = {}
        self._manager: tuple[int | None, int | None] = (None, None)
        self._nowhere = File(main_path, b"", [0], False)

    def span(self, cursor: Cursor) -> ir.Span:
        extent = cursors.extent(cursor)
        self._manager = (extent.manager, extent.options)
        start = self._position(extent.begin)
        end = self._position(extent.end)
        if end.file is not start.file or end.offset <= start.offset:
            end = self._end_of_word(start)
        return ir.Span(start.file.path, start.line, start.column, end.line, end.column)

    def name_span(self, cursor: Cursor) -> ir.Span:
        """The span of a declaration's name."""
        start = self.start(cursor)
        end = self._end_of_word(start)
        return ir.Span(start.file.path, start.line, start.column, end.line, end.column)

    def start(self, cursor: Cursor) -> Position:
        """The place that stands for a declaration: its name."""
        location = cursors.location(cursor)
        self._manager = (location.manager, location.options)
        return self._position(location.encoded)

    def begin(self, cursor: Cursor) -> Position:
        """Where the first token of a node stands."""
        extent = cursors.extent(cursor)
        self._manager = (extent.manager, extent.options)
        return self._position(extent.begin)

    def is_user_code(self, cursor: Cursor) -> bool:
        return self.start(cursor).file.is_user

    def readings(self, cursor: Cursor) -> Iterator[tuple[str, int]]:
        """Texts in which a node may be read, with its offset: where it is used and, inside of a macro, where that
        macro is defined. Bytes are decoded as latin-1 so that offsets hold."""
        extent = cursors.extent(cursor)
        if not extent.begin:
            return
        self._manager = (extent.manager, extent.options)
        used = self._position(extent.begin)
        yield used.file.text.decode("latin-1"), used.offset
        if extent.begin & _IN_MACRO:
            handle, _, _, offset = cursors.spelled(Location(extent.manager, extent.options, extent.begin))
            if handle is not None:
                yield self._file(handle).text.decode("latin-1"), offset

    def text(self, cursor: Cursor) -> str:
        """The text of a node, as bytes in latin-1 so that offsets hold; empty where a macro is involved."""
        extent = cursors.extent(cursor)
        if not extent.begin or (extent.begin | extent.end) & _IN_MACRO:
            return ""
        self._manager = (extent.manager, extent.options)
        start = self._position(extent.begin)
        return start.file.text[start.offset : self._position(extent.end).offset].decode("latin-1")

    def _position(self, encoded: int) -> Position:
        if encoded & _IN_MACRO:
            found = self._macros.get(encoded)
            if found is None:
                found = self._macros[encoded] = self._ask(encoded)
            return found
        index = bisect_right(self._bases, encoded) - 1
        if index >= 0:
            file = self._inclusions[index]
            offset = encoded - self._bases[index]
            if offset <= len(file.text):
                line = bisect_right(file.lines, offset)
                return Position(file, offset, line, offset - file.lines[line - 1] + 1)
        return self._ask(encoded)

    def _ask(self, encoded: int) -> Position:
        handle, line, column, offset = cursors.expansion(Location(*self._manager, encoded))
        if handle is None:
            return Position(self._nowhere, 0, 0, 0)
        file = self._file(handle)
        if not encoded & _IN_MACRO:
            index = bisect_right(self._bases, encoded - offset)
            self._bases.insert(index, encoded - offset)
            self._inclusions.insert(index, file)
        return Position(file, offset, line, column)

    def _file(self, handle: int) -> File:
        file = self._files.get(handle)
        if file is None:
            path = cursors.file_name(handle)
            text = cursors.file_contents(self._unit, handle)
            file = self._files[handle] = File(path, text, _line_starts(text), self._is_user(path))
        return file

    @staticmethod
    def _end_of_word(start: Position) -> Position:
        """The end of the identifier at a place: what stands for a range that begins and ends in one macro."""
        text = start.file.text
        end = start.offset
        while end < len(text) and (text[end : end + 1].isalnum() or text[end] == ord("_")):
            end += 1
        return Position(start.file, end, start.line, start.column + end - start.offset)


def _line_starts(text: bytes) -> list[int]:
    starts = [0]
    position = text.find(b"\n")
    while position >= 0:
        starts.append(position + 1)
        position = text.find(b"\n", position + 1)
    return starts
