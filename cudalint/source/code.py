"""A source text with its code by itself, without comments, literals and directives, so that brackets match in it."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from functools import lru_cache

from msgspec import Struct

from cudalint.facts import Place
from cudalint.regexes import regex
from cudalint.source.brackets import closing, outside
from cudalint.source.lexing import blanked
from cudalint.source.lines import Lines
from cudalint.system.disk.encoding import to_bytes

_WORD = regex(r"\w+")
_BRACKETS = frozenset("()[]{}")
_PARENTHESIS = regex(r"[(){}]")
_ENDS_OF_STATEMENTS = ";{}"
_OPEN_LIST = regex(r"\w\s*<(?:[^<>]|<[^<>]*>)*\Z")


class CodeText(Struct, frozen=True):
    """A text in which each character is a byte, since places count bytes."""

    text: str
    code: str
    """The text with everything blanked that is no code."""
    lines: Lines[str]
    """Of the text."""
    words: frozenset[str]
    """Names and numbers in the code."""
    _brackets: tuple[list[int], list[int]]
    """Where parentheses and braces stand, and how many parentheses are open behind each since the last brace."""

    def extent(self, place: Place) -> tuple[int, int]:
        """The offsets of a place."""
        return self.lines.offset(place.line, place.column), self.lines.offset(place.end_line, place.end_column)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        return self.lines.position(offset)

    def margin(self, offset: int) -> str | None:
        """What stands before an offset on its line, if that is white space."""
        before = self.text[offset - self.lines.position(offset).column + 1 : offset]
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

    def last_before(self, offset: int) -> int:
        """Behind the last code before an offset; 0 if there is none."""
        return len(self.code[:offset].rstrip())

    def statement_start(self, offset: int) -> int:
        """Behind the last semicolon or brace before an offset."""
        return max(self.code.rfind(letter, 0, offset) for letter in _ENDS_OF_STATEMENTS) + 1

    def is_in_parentheses(self, offset: int) -> bool:
        """Whether one is open there that was opened behind the last brace."""
        places, depths = self._brackets
        at = bisect_left(places, offset)
        return at > 0 and depths[at - 1] > 0

    def close(self, offset: int) -> int | None:
        """Behind what closes the bracket at an offset."""
        if self.code[offset : offset + 1] not in _BRACKETS:
            return offset + 1 if offset < len(self.code) else None
        return closing(self.code, offset)

    def find(self, wanted: str, begin: int, end: int) -> list[int]:
        """Where a character stands outside of all brackets."""
        return list(outside(self.code, wanted, begin, end))

    def between_commas(self, begin: int, end: int) -> list[tuple[int, int]]:
        """The extents of what stands between commas from one offset to another, but for those in brackets."""
        borders = [begin - 1, *self.find(",", begin, end), end]
        return [(first + 1, last) for first, last in itertools.pairwise(borders)]

    def parts(self, begin: int, end: int) -> list[str]:
        """What stands between commas, but for those in brackets and in lists of templates."""
        parts: list[str] = []
        for piece in (self.code[first:last] for first, last in self.between_commas(begin, end)):
            if parts and parts[-1].count("<") > parts[-1].count(">") and _OPEN_LIST.search(parts[-1]):
                parts[-1] += f",{piece}"
            else:
                parts.append(piece)
        return [part.strip() for part in parts if part.strip()]

    @staticmethod
    def parts_of(text: str) -> list[str]:
        """The same of another piece of code."""
        return CodeText(text, text, Lines(text), frozenset(), ([], [])).parts(0, len(text))

    def semicolon(self, begin: int) -> int | None:
        """Where the statement ends that begins at an offset."""
        return next(outside(self.code, ";", begin, len(self.code)), None)


@lru_cache(maxsize=4)
def code_text(text: str) -> CodeText:
    plain = to_bytes(text).decode("latin-1")
    code = blanked(plain)
    return CodeText(plain, code, Lines(plain), frozenset(_WORD.findall(code)), _brackets_in(code))


def _brackets_in(code: str) -> tuple[list[int], list[int]]:
    places: list[int] = []
    depths: list[int] = []
    depth = 0
    for match in _PARENTHESIS.finditer(code):
        letter = match[0]
        depth = 0 if letter in "{}" else max(0, depth + (1 if letter == "(" else -1))
        places.append(match.start())
        depths.append(depth)
    return places, depths
