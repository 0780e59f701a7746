"""Where things stand: spans, the text of the source, and whose file it is."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import Final, NamedTuple

from cudalint.frontend import cursors
from cudalint.frontend.cursors import Cursor, Location, Range
from cudalint.frontend.python.located import PlaceMap
from cudalint.ir import nodes as ir
from cudalint.regexes import regex
from cudalint.source.lines import Lines

_IN_MACRO: Final = 1 << 31
"""Clang sets this bit in the encoding of a location that stands in a macro expansion."""
_WORD: Final = regex(r"\w*", re.ASCII)


class File:
    """A file of a unit. Of most headers nobody asks for more than the size."""

    def __init__(
        self, path: str, size: int, read: Callable[[], bytes], is_user: bool, places: PlaceMap | None = None
    ) -> None:
        self.path = path
        self.places = places
        """Where the text stands in a file that holds more than CUDA."""
        self.size = size
        self.is_user = is_user
        self._read = read

    @cached_property
    def text(self) -> str:
        """Bytes as latin-1, so that offsets into it are offsets into the file."""
        return self._read().decode("latin-1")

    @cached_property
    def _lines(self) -> Lines[str]:
        return Lines(self.text)

    def span(self, start: int, end: int) -> ir.Span:
        """Between two offsets."""
        where = self.places.span(start, end) if self.places is not None else self._lines.extent(start, end)
        return ir.Span(self.path, *where)


class Place(NamedTuple):
    file: File
    offset: int

    @property
    def word(self) -> str:
        """The identifier that begins there."""
        return self.file.text[self.offset : _end_of_word(self.file.text, self.offset)]


class _Where:
    """The span of a node, on demand."""

    __slots__ = ("_cursor", "_sources", "_span")

    def __init__(self, sources: Sources, cursor: Cursor) -> None:
        self._sources = sources
        self._cursor = cursor
        self._span: ir.Span | None = None

    def __call__(self) -> ir.Span:
        if self._span is None:
            self._span = self._sources.span(self._cursor)
        return self._span


class Sources:
    """Turns clang's locations into lines and columns.

    Asking libclang for each place costs more than everything else that is done with a node, so that the
    offset is taken from the location's encoding; clang is asked once for each file and for each macro.
    """

    def __init__(
        self,
        unit: int,
        main_path: str,
        is_user: Callable[[str], bool],
        shown: Callable[[str], str],
        places: PlaceMap | None = None,
        keeps: object = None,
    ) -> None:
        """`keeps` is what the unit's memory belongs to, as long as somebody may ask where something stands."""
        self._unit = unit
        self._keeps = keeps
        self._main_path = main_path
        self._places = places
        self._is_user = is_user
        self._shown = shown
        self._files: dict[int, File] = {}
        self._bases: list[int] = []
        self._inclusions: list[File] = []
        """The files in the order of `_bases`, from which clang numbers the bytes of each inclusion."""
        self._macros: dict[int, Place] = {}
        self._manager: tuple[int | None, int | None] = (None, None)
        self._nowhere = File(main_path, 0, bytes, False)
        self._latest = (self._nowhere, 0, 0)
        """The inclusion of the last span, with the numbers of its first and last byte: most are in the same."""

    # --- spans -------------------------------------------------------------------------------------

    def where(self, cursor: Cursor) -> ir.Where:
        """`span`, found out when somebody asks: it takes half of the time for lowering a node."""
        return _Where(self, cursor)

    def span(self, cursor: Cursor) -> ir.Span:
        """What a node covers; for a node in a macro, the use of the macro."""
        extent = cursors.extent(cursor)
        begin = extent.begin
        file, first, last = self._latest
        if first <= begin < extent.end <= last:
            return file.span(begin - first, extent.end - first)
        file, start = self._begin(extent)
        end_file, end = self._place(extent.end)
        if end_file is not file or end <= start:
            end = _end_of_word(file.text, start)
        return file.span(start, end)

    def name_span(self, declaration: Cursor) -> ir.Span:
        """A declaration's name."""
        file, start = self.start(declaration)
        return file.span(start, _end_of_word(file.text, start))

    def start(self, declaration: Cursor) -> Place:
        """The place that stands for a declaration: that of its name."""
        location = cursors.location(declaration)
        self._manager = (location.manager, location.options)
        return self._place(location.encoded)

    def is_shown_as(self, path: str, shown: str) -> bool:
        """Whether a file as clang names it is the one of a span."""
        return self._shown(path) == shown

    def begin(self, cursor: Cursor) -> Place:
        """Where the first token of a node stands."""
        return self._begin(cursors.extent(cursor))

    # --- text --------------------------------------------------------------------------------------

    def text_of_template(self, definition: Cursor) -> str:
        """The text from the word `template` on to the end of what is written as a template; empty in a macro."""
        extent = cursors.extent(definition)
        if not extent.begin or (extent.begin | extent.end) & _IN_MACRO:
            return ""
        file, start = self._begin(extent)
        text = file.text[start : self._place(extent.end).offset + 1]
        return text if text.startswith("template") else ""

    def text_around(self, definition: Cursor) -> str:
        """The text of the file that a definition stands in."""
        return self._begin(cursors.extent(definition))[0].text

    def text(self, cursor: Cursor) -> str:
        """The text of a node; empty where a macro is involved."""
        extent = cursors.extent(cursor)
        if not extent.begin or (extent.begin | extent.end) & _IN_MACRO:
            return ""
        file, start = self._begin(extent)
        return file.text[start : self._place(extent.end).offset]

    def statement_text(self, cursor: Cursor) -> str:
        """The text from the first token of a node to the end of its statement; empty where a macro is involved."""
        extent = cursors.extent(cursor)
        if not extent.begin or extent.begin & _IN_MACRO:
            return ""
        file, start = self._begin(extent)
        end = file.text.find(";", start)
        return file.text[start:end] if end > start else ""

    def readings(self, cursor: Cursor) -> Iterator[Place]:
        """Places at which a node may be read: where it is used and, inside of a macro, where that macro is
        defined."""
        extent = cursors.extent(cursor)
        if not extent.begin:
            return
        yield self._begin(extent)
        if extent.begin & _IN_MACRO:
            handle, offset = cursors.spelled(Location(extent.manager, extent.options, extent.begin))
            if handle is not None:
                yield Place(self._file(handle), offset)

    # --- whose file --------------------------------------------------------------------------------

    def is_user_code(self, declaration: Cursor) -> bool:
        return self.start(declaration).file.is_user

    def user_code(self, declarations: list[Cursor]) -> list[Cursor]:
        """The declarations in the user's files, of all those at the top of a unit.

        The bundled headers make most of theirs with macros, and clang would have to be asked for each. What
        stands between two declarations of one inclusion of a header that isn't the user's is no user's either.
        """
        encodings = [cursors.location(declaration).encoded for declaration in declarations]
        found: list[Cursor] = []
        doubtful: list[Cursor] = []
        previous: int | None = None
        for declaration, encoded in zip(declarations, encodings, strict=True):
            if encoded & _IN_MACRO:
                doubtful.append(declaration)
                continue
            inclusion = self._inclusion(encoded, declaration)
            is_user = self._inclusions[inclusion].is_user if inclusion >= 0 else False
            if is_user or inclusion != previous:
                found += [one for one in doubtful if self.is_user_code(one)]
            doubtful.clear()
            previous = inclusion
            if is_user:
                found.append(declaration)
        return found + [one for one in doubtful if self.is_user_code(one)]

    def _inclusion(self, encoded: int, declaration: Cursor) -> int:
        """The index of the inclusion in which a location stands, -1 for none."""
        index = bisect_right(self._bases, encoded) - 1
        if index >= 0 and encoded - self._bases[index] <= self._inclusions[index].size:
            return index
        self.start(declaration)
        return bisect_right(self._bases, encoded) - 1

    # --- places ------------------------------------------------------------------------------------

    def _begin(self, extent: Range) -> Place:
        self._manager = (extent.manager, extent.options)
        return self._place(extent.begin)

    def _place(self, encoded: int) -> Place:
        if encoded & _IN_MACRO:
            found = self._macros.get(encoded)
            if found is None:
                found = self._macros[encoded] = self._ask(encoded)
            return found
        index = bisect_right(self._bases, encoded) - 1
        if index >= 0:
            file = self._inclusions[index]
            offset = encoded - self._bases[index]
            if offset <= file.size:
                self._latest = (file, self._bases[index], self._bases[index] + file.size)
                return Place(file, offset)
        return self._ask(encoded)

    def _ask(self, encoded: int) -> Place:
        handle, offset = cursors.expansion(Location(*self._manager, encoded))
        if handle is None:
            return Place(self._nowhere, 0)
        file = self._file(handle)
        if not encoded & _IN_MACRO:
            index = bisect_right(self._bases, encoded - offset)
            self._bases.insert(index, encoded - offset)
            self._inclusions.insert(index, file)
        return Place(file, offset)

    def _file(self, handle: int) -> File:
        file = self._files.get(handle)
        if file is None:
            path = cursors.file_name(handle)
            read = partial(cursors.file_contents, self._unit, handle)
            places = self._places if path == self._main_path else None
            file = File(self._shown(path), cursors.file_size(self._unit, handle), read, self._is_user(path), places)
            self._files[handle] = file
        return file


def _end_of_word(text: str, start: int) -> int:
    """The end of the identifier at a place, which stands for a range that begins and ends in one macro."""
    word = _WORD.match(text, start)
    return word.end() if word is not None else start
