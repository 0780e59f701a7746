"""String literals, decoded so that each character knows its place. Python's `ast` gives values without places."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Final

from cudalint.frontend.python.located import LocatedText, generated, joined
from cudalint.regexes import regex

_BETWEEN: Final = regex(r"(?:\s|\\\r?\n|#[^\r\n]*)*")
"""What may stand between literals that Python takes for one."""
_OPENING: Final = regex(r"([A-Za-z]{0,2})('''|\"\"\"|'|\")")
_ESCAPE: Final = regex(
    r"\\(?:(?P<line>\r\n|\r|\n)|(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]{2})|u(?P<short>[0-9a-fA-F]{4})"
    r"|U(?P<long>[0-9a-fA-F]{8})|N\{(?P<name>[^}]+)\}|(?P<plain>[\\'\"abfnrtv]))"
)
_PLAIN: Final = dict(zip("\\'\"abfnrtv", "\\'\"\a\b\f\n\r\t\v", strict=True))
_BRACKETS: Final = {"(": ")", "[": "]", "{": "}"}

Hole = Callable[[int, int], LocatedText]
"""Gives the text for the next `{...}` of an f-string, which stands between these offsets."""


class NotALiteral(ValueError):
    """A text that can't be read as a literal."""


def decode(source: str, start: int, end: int, hole: Hole) -> LocatedText:
    """Decodes the literal, or the literals side by side, between two offsets of a Python text."""
    pieces: list[LocatedText] = []
    position = start
    while position < end:
        opening = _OPENING.match(source, position)
        if opening is None:
            raise NotALiteral(source[position : position + 20])
        reader = _Reader(source, opening.end(), opening[2], opening[1].lower(), hole)
        pieces.append(reader.read())
        position = reader.position
        between = _BETWEEN.match(source, position)
        assert between is not None
        position = between.end()
    return joined(pieces)


class _Reader:
    """Reads the inside of one literal."""

    def __init__(self, source: str, position: int, quote: str, prefix: str, hole: Hole) -> None:
        self.source = source
        self.position = position
        self._quote = quote
        self._raw, self._formatted = "r" in prefix, "f" in prefix
        self._hole = hole
        self._text: list[str] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._pieces: list[LocatedText] = []

    def read(self) -> LocatedText:
        while not self.source.startswith(self._quote, self.position):
            if self.position >= len(self.source):
                raise NotALiteral("no end")
            self._step()
        self.position += len(self._quote)
        self._finish_piece()
        return joined(self._pieces)

    def _step(self) -> None:
        character = self.source[self.position]
        if character == "\\":
            self._backslash()
        elif self._formatted and character in "{}":
            self._brace(character)
        elif character == "\r":
            # Python reads every line end as a line feed.
            self._add("\n", 2 if self.source.startswith("\r\n", self.position) else 1)
        else:
            self._add(character, 1)

    def _add(self, character: str, length: int) -> None:
        self._text.append(character)
        self._starts.append(self.position)
        self.position += length
        self._ends.append(self.position)

    def _backslash(self) -> None:
        escape = None if self._raw else _ESCAPE.match(self.source, self.position)
        if escape is None:
            self._add("\\", 1)
            if self._raw and self.source[self.position : self.position + 1] in ("\\", "'", '"'):
                self._add(self.source[self.position], 1)
        elif escape["line"]:
            self.position = escape.end()
        else:
            self._add(_meaning(escape), len(escape[0]))

    def _brace(self, brace: str) -> None:
        if self.source.startswith(brace * 2, self.position):
            self._add(brace, 2)
            return
        end = _end_of_hole(self.source, self.position)
        self._finish_piece()
        self._pieces.append(self._hole(self.position, end))
        self.position = end

    def _finish_piece(self) -> None:
        if self._text:
            self._pieces.append(LocatedText("".join(self._text), tuple(self._starts), tuple(self._ends)))
            self._text, self._starts, self._ends = [], [], []


def _meaning(escape: re.Match[str]) -> str:
    if escape["plain"]:
        return _PLAIN[escape["plain"]]
    if escape["octal"]:
        return chr(int(escape["octal"], 8))
    if escape["name"]:
        try:
            return unicodedata.lookup(escape["name"])
        except KeyError:
            raise NotALiteral(escape[0]) from None
    return chr(int(escape["hex"] or escape["short"] or escape["long"], 16))


def _end_of_hole(source: str, start: int) -> int:
    """Behind the brace that closes the one at `start`; brackets and literals inside are skipped."""
    waiting: list[str] = []
    position = start
    while position < len(source):
        character = source[position]
        if character in _BRACKETS:
            waiting.append(_BRACKETS[character])
        elif waiting and character == waiting[-1]:
            waiting.pop()
            if not waiting:
                return position + 1
        elif character in "'\"":
            position = _end_of_inner_literal(source, position)
            continue
        position += 1
    raise NotALiteral("a brace is not closed")


def _end_of_inner_literal(source: str, start: int) -> int:
    opening = _OPENING.match(source, start)
    assert opening is not None
    reader = _Reader(source, opening.end(), opening[2], "", lambda first, last: generated("", first))
    reader.read()
    return reader.position
