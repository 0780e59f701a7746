"""Texts of which every character knows where in a Python file it comes from."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Final

from msgspec import Struct

from cudalint.regexes import regex

_LINE_END: Final = regex("\r\n|\r|\n")


class PythonText:
    """The decoded text of a Python file. Offsets count characters; places count lines, and bytes from 1."""

    def __init__(self, text: str, encoding: str = "utf-8", bom: int = 0) -> None:
        self.text = text
        self._encoding = encoding
        self._bom = bom
        """Bytes before the text."""
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def offset(self, line: int, column: int) -> int:
        """From a place as `ast` gives it: the column counts UTF-8 bytes from 0, whatever the file's encoding."""
        start = self._starts[line - 1]
        following = self._starts[line] if line < len(self._starts) else len(self.text)
        before = self.text[start:following].encode("utf-8", "surrogatepass")[:column]
        return start + len(before.decode("utf-8", "surrogatepass"))

    def position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        before = self.text[self._starts[line - 1] : offset].encode(self._encoding, "replace")
        return line, len(before) + 1 + (self._bom if line == 1 else 0)


class LocatedText(Struct, frozen=True):
    text: str
    starts: tuple[int, ...]
    """For each character the offset in the Python text where what stands for it begins."""
    ends: tuple[int, ...]
    """And where that ends."""

    def __len__(self) -> int:
        return len(self.text)

    def piece(self, first: int, last: int) -> LocatedText:
        return LocatedText(self.text[first:last], self.starts[first:last], self.ends[first:last])

    def replaced(self, pattern: re.Pattern[str], new: Callable[[re.Match[str]], LocatedText | str]) -> LocatedText:
        """The text with each match replaced. New characters that come from nowhere stand where the match stood."""
        pieces: list[LocatedText] = []
        done = 0
        for match in pattern.finditer(self.text):
            replacement = new(match)
            if isinstance(replacement, str):
                replacement = self.instead_of(match.start(), match.end(), replacement)
            pieces += (self.piece(done, match.start()), replacement)
            done = match.end()
        return joined([*pieces, self.piece(done, len(self))])

    def instead_of(self, first: int, last: int, text: str) -> LocatedText:
        """Other characters for some of these, at the place of all of them."""
        if first >= last:
            return generated(text, self.starts[first] if first < len(self) else 0)
        return generated(text, self.starts[first], self.ends[last - 1])


def generated(text: str, start: int, end: int | None = None) -> LocatedText:
    """A text all of which stands for one piece of the Python file."""
    count = len(text)
    return LocatedText(text, (start,) * count, (start if end is None else end,) * count)


def joined(parts: Iterable[LocatedText]) -> LocatedText:
    pieces = list(parts)
    starts = tuple(offset for piece in pieces for offset in piece.starts)
    ends = tuple(offset for piece in pieces for offset in piece.ends)
    return LocatedText("".join(piece.text for piece in pieces), starts, ends)


class PlaceMap:
    """From bytes of a text of CUDA to lines and columns of the Python file that it is taken from."""

    def __init__(self, located: LocatedText, python: PythonText) -> None:
        self._located = located
        self._python = python

    @cached_property
    def data(self) -> bytes:
        """The text as the compiler gets it."""
        return self._located.text.encode("utf-8", "surrogatepass")

    def span(self, first: int, last: int) -> tuple[int, int, int, int]:
        """Line and column, last line and exclusive column, of a range of bytes."""
        starts, ends = self._located.starts, self._located.ends
        if not starts:
            return 1, 1, 1, 1
        begin = min(self._character(first), len(starts) - 1)
        start = starts[begin]
        if last <= first:
            return self._python.position(start) * 2
        end = ends[min(self._character(last), len(ends)) - 1]
        if end < start:
            # The text is put together from pieces in another order than that of the file.
            end = ends[begin]
        return self._python.position(start) + self._python.position(end)

    def position(self, line: int, column: int) -> tuple[int, int]:
        """Of a place as the compiler gives it."""
        index = min(line, len(self._byte_lines)) - 1
        return self.span(self._byte_lines[index] + column - 1, 0)[:2]

    def is_written(self, line: int) -> bool:
        """Whether a line of the text stands in the Python file as it is, and nothing in it was worked out."""
        first = self._byte_lines[min(line, len(self._byte_lines)) - 1]
        last = self._byte_lines[line] if line < len(self._byte_lines) else len(self.data)
        begin, end = self._character(first), self._character(last)
        pairs = zip(self._located.starts[begin:end], self._located.ends[begin:end], strict=True)
        return all(stop == start + 1 for start, stop in pairs)

    @cached_property
    def _byte_lines(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer(b"\n", self.data))]

    @cached_property
    def _byte_of_character(self) -> list[int] | None:
        """The first byte of each character; None where each is one byte."""
        if self._located.text.isascii():
            return None
        found, position = [], 0
        for character in self._located.text:
            found.append(position)
            position += len(character.encode("utf-8", "surrogatepass"))
        return [*found, position]

    def _character(self, byte: int) -> int:
        table = self._byte_of_character
        return byte if table is None else bisect_right(table, byte) - 1
