"""What can be taken out of a source: declarations, statements within them, directives, comments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from cudalint.regexes import regex
from cudalint.source.code import CodeText, code_text
from cudalint.source.comments import read_comments

_DIRECTIVE = regex(r"^[ \t]*#(?:[^\n\\]|\\\r?\n|\\.)*\n?", re.MULTILINE)
_NAME = regex(r"[^\W\d]\w*")
_ALWAYS_KEPT = "cudalint:"
"""Comments that say something to the linter."""


class Piece(Struct, frozen=True):
    """A part of a text, as offsets of bytes."""

    start: int
    end: int
    depth: int
    """How many braces it stands in: what is further outside is tried first."""
    text: str = ""
    """What takes its place: a body's braces, where only what is between them goes."""


def pieces_of(data: str) -> list[Piece]:
    """The pieces of a text (each character a byte), those that stand in the fewest braces first."""
    source = code_text(data)
    found = [Piece(match.start(), match.end(), 0) for match in _DIRECTIVE.finditer(data)]
    found += _statements(source, 0, len(source.code), 0)
    return sorted(found, key=lambda piece: (piece.depth, piece.start))


def _statements(source: CodeText, begin: int, end: int, depth: int) -> Iterator[Piece]:
    """What ends with a semicolon or a body. `else`, `while` and names behind a body go with it or not, as the text
    that is left shows by what comes of it."""
    code = source.code
    start = at = source.skip(begin)
    while at < end:
        character = code[at]
        if character in "([":
            at = source.close(at) or end
        elif character == "{":
            close = source.close(at) or end
            yield from _statements(source, at + 1, close - 1, depth + 1)
            if code[at + 1 : close - 1].strip():
                yield Piece(at + 1, close - 1, depth)
            # `if (...) { ... }` may go and leave what it guards.
            yield Piece(start, close, depth, source.text[at + 1 : close - 1])
            at = close
            after = source.skip(at)
            if code[after : after + 1] == ";":
                at = after + 1
            if code[after : after + 4] != "else":
                yield Piece(start, at, depth)
                start = at = source.skip(at)
        elif character == ";":
            at += 1
            yield Piece(start, at, depth)
            start = at = source.skip(at)
        elif character == ":" and code[start:at].strip() in ("public", "private", "protected"):
            start = at = source.skip(at + 1)
        else:
            at += 1


def without(data: str, pieces: list[Piece]) -> str:
    """A text without some of its pieces; of two, one of which is in the other, the outer one counts."""
    left, done = [], 0
    for piece in sorted(pieces, key=lambda each: (each.start, -each.end)):
        if piece.start >= done:
            left += [data[done : piece.start], piece.text]
            done = piece.end
    return "".join((*left, data[done:]))


def without_comments(data: str) -> str:
    """A text without comments, and without the lines that are empty then."""
    left, done = [], 0
    for comment in read_comments(data).comments:
        if _ALWAYS_KEPT not in comment.text:
            left += [data[done : comment.start], " "]
            done = comment.end
    return without_blanks("".join((*left, data[done:])))


def without_blanks(data: str) -> str:
    """A text without empty lines and white space at the ends of lines."""
    lines = (line.rstrip() for line in data.split("\n"))
    return "\n".join(line for line in lines if line) + "\n"


def names_in(data: str) -> list[str]:
    """The names that its code and directives have, in the order in which they first appear."""
    plain = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', re.sub(r"#[ \t]*include[^\n]*", "", without_comments(data)))
    return list(dict.fromkeys(_NAME.findall(plain)))


def renamed(data: str, names: dict[str, str]) -> str:
    """A text with other names, but in the names of headers."""
    lines = data.split("\n")
    return "\n".join(
        line if re.match(r"[ \t]*#[ \t]*include", line) else _NAME.sub(lambda m: names.get(m[0], m[0]), line)
        for line in lines
    )
