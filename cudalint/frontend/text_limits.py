"""What of a text is too much for whoever reads it, found before clang does.

Clang's parser calls itself for each operator of an expression and for each bracket, and a process whose stack is used
up is lost with all that it knew. Lines that are longer than anybody writes are data; any message about a place in one
goes through all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cudalint.frontend.reading import SourceError
from cudalint.regexes import regex
from cudalint.source.lexing import blanked
from cudalint.source.lines import Lines

_PIECE: Final = regex(rb"[^,;{}]+")
_OPERATORS: Final = regex(r"[-+*/%&|^~!=<>?:.(\[]")


def check_size(path: str, data: bytes, longest_line: int, most_operators: int) -> None:
    """Raises SourceError for a text with a line of more bytes than that, or an expression of more operators and
    brackets."""
    start = _longer_line(data, longest_line)
    if start is not None:
        end = data.find(b"\n", start)
        length = (len(data) if end < 0 else end) - start
        raise SourceError(f"{_at(path, data, start)}: a line of {length} bytes; --max-line allows longer ones")
    for start, operators in _long_expressions(data, most_operators):
        what = f"an expression of {operators} operators and brackets"
        raise SourceError(f"{_at(path, data, start)}: {what}; --max-nesting allows more")


def _longer_line(data: bytes, longest: int) -> int | None:
    """Where the first line begins that is longer; whatever is in between need not be looked at."""
    start = 0
    while len(data) - start > longest:
        end = data.rfind(b"\n", start, start + longest + 1)
        if end < 0:
            return start
        start = end + 1
    return None


def _long_expressions(data: bytes, most: int) -> Iterator[tuple[int, int]]:
    """Where pieces begin that no comma, semicolon or brace divides, with their operators, where those are more."""
    for match in _PIECE.finditer(data):
        if match.end() - match.start() > most:
            operators = len(_OPERATORS.findall(blanked(match[0].decode("latin-1"), directives=False)))
            if operators > most:
                yield match.start(), operators


def _at(path: str, data: bytes, offset: int) -> str:
    line, column = Lines(data).position(offset)
    return f"{path}:{line}:{column}"
