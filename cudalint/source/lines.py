"""Lines of texts, and what lies where in them.

Positions come from clang, which has its own idea of where lines end and reads texts that were mended; from annotations,
editors and edits; and from whatever was worked out from those. Here they become offsets and pieces of a text, and
nowhere else, so that none of these can lie outside of it: a line that isn't there is empty, and a position that isn't
there is the nearest one that is.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import AnyStr, Generic, NamedTuple

from cudalint.system.disk.regular import read_regular


class Position(NamedTuple):
    """Both count from 1; columns count what the text is made of."""

    line: int
    column: int


class Extent(NamedTuple):
    """A piece of a text; its end is exclusive, and never before its start."""

    line: int
    column: int
    end_line: int
    end_column: int


def _parts(text: AnyStr) -> list[AnyStr]:
    return text.split("\n") if isinstance(text, str) else text.split(b"\n")


class Lines(Generic[AnyStr]):
    """A text by its lines, each of which a line feed ends."""

    __slots__ = ("_starts", "text")

    def __init__(self, text: AnyStr) -> None:
        self.text: AnyStr = text
        # Without a loop, which texts are too many for: a line feed stands behind each line but the last one.
        self._starts = list(accumulate(map((1).__add__, map(len, _parts(text)[:-1])), initial=0))

    def __len__(self) -> int:
        """One more than there are line feeds: even an empty text has a line."""
        return len(self._starts)

    def __iter__(self) -> Iterator[AnyStr]:
        return iter(_parts(self.text))

    # --- pieces --------------------------------------------------------------------------------------

    def line(self, number: int) -> AnyStr:
        """Without its line feed; empty where there is no such line."""
        return self.between(number, number)

    def between(self, first: int, last: int) -> AnyStr:
        """The text of some lines, without the line feed of the last one; what is not there is left out."""
        first, last = max(first, 1), min(last, len(self))
        return self.text[self._starts[first - 1] : self._end(last)] if first <= last else self.text[:0]

    def behind(self, line: int, column: int) -> AnyStr:
        """The rest of a line from a column on; empty where there is no such place."""
        return self.line(line)[max(column, 1) - 1 :]

    # --- places --------------------------------------------------------------------------------------

    def nearest(self, line: int, column: int) -> Position:
        """The position itself if the text has it; one may stand right behind the end of a line."""
        if line < 1:
            return Position(1, 1)
        if line > len(self):
            line, column = len(self), len(self.text) + 1
        return Position(line, min(max(1, column), self._end(line) - self._starts[line - 1] + 1))

    def offset(self, line: int, column: int) -> int:
        line, column = self.nearest(line, column)
        return self._starts[line - 1] + column - 1

    def position(self, offset: int) -> Position:
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)

    def extent(self, start: int, end: int) -> Extent:
        """Between two offsets."""
        starts, size = self._starts, len(self.text)
        start = min(max(start, 0), size)
        end = min(max(start, end), size)
        line, end_line = bisect_right(starts, start), bisect_right(starts, end)
        return Extent(line, start - starts[line - 1] + 1, end_line, end - starts[end_line - 1] + 1)

    def within(self, extent: Extent) -> Extent:
        """The extent itself if it lies in the text."""
        start = self.nearest(extent.line, extent.column)
        return Extent(*start, *max(start, self.nearest(extent.end_line, extent.end_column)))

    def end(self, line: int) -> int:
        """Where a line ends, without its line feed."""
        return self.offset(line, len(self.text) + 1)

    def _end(self, line: int) -> int:
        return self._starts[line] - 1 if line < len(self) else len(self.text)


def lines_of_file(path: str) -> Lines[bytes] | None:
    """Of bytes, since columns count bytes; None for a file that is gone."""
    try:
        return Lines(read_regular(path))
    except OSError:
        return None
