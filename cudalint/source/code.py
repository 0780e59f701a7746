"""A source text whose comments, literals and directives are told from its code: brackets match in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from cudalint.disk.encoding import to_bytes
from cudalint.facts import Place
from cudalint.source.comments import read_comments

_NO_CODE = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|^[ \t]*#(?:[^\n\\]|\\\n|\\.)*', re.MULTILINE)
"""Literals and directives, once comments are gone."""
_OPENING, _CLOSING = "([{", ")]}"


class CodeText(Struct, frozen=True):
    """A text in which each character is a byte, since places count bytes."""

    text: str
    code: str
    """The text with everything blanked that is no code."""

    def extent(self, place: Place) -> tuple[int, int]:
        """The offsets of a place."""
        return self._offset(place.line, place.column), self._offset(place.end_line, place.end_column)

    def _offset(self, line: int, column: int) -> int:
        start = 0
        for _ in range(line - 1):
            start = self.text.find("\n", start) + 1
        return start + column - 1

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        return self.text.count("\n", 0, offset) + 1, offset - self._line_start(offset) + 1

    def _line_start(self, offset: int) -> int:
        return self.text.rfind("\n", 0, offset) + 1

    def margin(self, offset: int) -> str | None:
        """What stands before an offset on its line, if that is white space."""
        before = self.text[self._line_start(offset) : offset]
        return before if not before.strip(" \t") else None

    @property
    def line_end(self) -> str:
        return "\r\n" if "\r\n" in self.text else "\n"

    def skip(self, offset: int) -> int:
        """The next code."""
        rest = self.code[offset:]
        return offset + len(rest) - len(rest.lstrip())

    def skip_blanks(self, offset: int) -> int:
        """The next letter that is no space, be it code or not."""
        rest = self.text[offset:]
        return offset + len(rest) - len(rest.lstrip(" \t"))

    def close(self, offset: int) -> int | None:
        """Behind what closes the bracket at an offset."""
        return next((at + 1 for at, depth in self._depths(offset, len(self.code)) if depth == 0), None)

    def find(self, wanted: str, begin: int, end: int) -> list[int]:
        """Where a character stands outside of all brackets."""
        return [at for at, depth in self._depths(begin, end) if depth == 0 and self.code[at] == wanted]

    def _depths(self, begin: int, end: int) -> Iterator[tuple[int, int]]:
        """How many brackets are open behind each character."""
        depth = 0
        for at in range(begin, end):
            depth += (self.code[at] in _OPENING) - (self.code[at] in _CLOSING)
            yield at, depth


@lru_cache(maxsize=4)
def code_text(text: str) -> CodeText:
    plain = to_bytes(text).decode("latin-1")
    pieces, position = [], 0
    for comment in read_comments(plain).comments:
        pieces += [plain[position : comment.start], _blank(comment.text)]
        position = comment.end
    code = "".join((*pieces, plain[position:]))
    return CodeText(plain, _NO_CODE.sub(lambda match: _blank(match[0]), code))


def _blank(text: str) -> str:
    return re.sub(r"[^\r\n]", " ", text)
