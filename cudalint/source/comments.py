"""The comments of a C++ source, which libclang's tree has not: annotations stand in them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from cudalint.regexes import regex
from cudalint.source.lexing import comments_in
from cudalint.source.lines import Lines
from cudalint.system.disk.encoding import to_bytes

COMMENT: Final = regex(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
COMMENT_IN_BYTES: Final = regex(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
"""Without a look at literals: for texts in which what is sought is no part of one."""
_STATED: Final = "cudalint"
_LETTER: Final = regex(r"[^\n]")
_DECLARATION_END = regex("[{;]")
_LONGEST_DECLARATION = 4000
_DIRECTIVE_LINE = regex(r"\s*#")


class Comment(Struct, frozen=True):
    start: int
    end: int
    """Offsets into the text."""
    text: str
    """With its delimiters."""
    line: int
    end_line: int
    stands_alone: bool
    """No code shares a line with it."""


class CommentedSource(Struct, frozen=True):
    """A source text and its comments."""

    text: str
    comments: tuple[Comment, ...]
    _lines: Lines[str]
    _code_lines: tuple[int, ...]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset; both start at 1 and columns count UTF-8 bytes."""
        line, column = self._lines.position(offset)
        return line, len(to_bytes(self._lines.line(line)[: column - 1])) + 1

    def next_code_line(self, line: int) -> int | None:
        """The first line after `line` that holds code; preprocessor directives such as `#pragma` don't count."""
        index = bisect_right(self._code_lines, line)
        return self._code_lines[index] if index < len(self._code_lines) else None

    def declaration_at(self, line: int) -> str:
        """The text from the start of a line up to the first brace or semicolon, as far as one is near."""
        start = self._lines.offset(line, 1)
        near = self.text[start : start + _LONGEST_DECLARATION]
        end = _DECLARATION_END.search(near)
        return near[: end.start()] if end else near


def read_comments(text: str) -> CommentedSource:
    """Lexes `text` once, from start to end."""
    lines = Lines(text)
    spans = [match.span() for match in comments_in(text)]
    blanked = Lines(_without(text, spans))
    comments = tuple(_comment(lines, start, end, blanked) for start, end in spans)
    return CommentedSource(text, comments, lines, tuple(_code_lines(blanked)))


def code_of(text: str) -> str:
    """The text with blanks for its comments, and nothing for those at the ends of lines and of the text: all else
    stands where it stood. Comments that state something (`cudalint:`) are left."""
    pieces: list[str] = []
    done = 0
    for match in comments_in(text):
        comment, before = match[0], text[done : match.start()]
        # Behind a backslash nothing would continue the line.
        if _STATED in comment or before.rstrip(" \t").endswith("\\"):
            continue
        done = match.end()
        if done == len(text) or text[done] in "\r\n":
            pieces += (before.rstrip(" \t"), "\n" * comment.count("\n"))
        else:
            pieces += (before, _LETTER.sub(lambda letter: " " * len(to_bytes(letter[0])), comment))
    return "".join((*pieces, text[done:])).rstrip() + "\n"


def _without(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with its comments taken out and its lines kept."""
    pieces: list[str] = []
    done = 0
    for start, end in spans:
        pieces.append(text[done:start])
        pieces.append("\n" * text.count("\n", start, end))
        done = end
    pieces.append(text[done:])
    return "".join(pieces)


def _comment(lines: Lines[str], start: int, end: int, blanked: Lines[str]) -> Comment:
    line, end_line = lines.position(start).line, lines.position(max(start, end - 1)).line
    alone = not blanked.line(line).strip() and not blanked.line(end_line).strip()
    return Comment(start, end, lines.text[start:end], line, end_line, alone)


def _code_lines(blanked: Lines[str]) -> Iterator[int]:
    """The numbers of lines that hold code. A directive reaches to the end of its continued lines."""
    in_directive = False
    for number, line in enumerate(blanked, start=1):
        if not in_directive and not _DIRECTIVE_LINE.match(line):
            if line.strip():
                yield number
            continue
        in_directive = line.rstrip("\r").endswith("\\")
