"""Statements by their shape, by which copies are recognised that a generator gave other names and numbers."""

from __future__ import annotations

from cudalint.facts import Place
from cudalint.regexes import regex
from cudalint.report.findings.sources import SourceLines

_TOKEN = regex(r"[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.'])*|\S")
_NUMBER = regex(r"\d+")
_COMMENT = regex(r"//.*")
_KEPT = frozenset(
    (
        "threadIdx", "blockIdx", "blockDim", "gridDim", "x", "y", "z", "w", "if", "else", "for", "while", "return",
        "case", "const", "auto", "float", "double", "int", "unsigned", "char", "short", "long", "bool", "half",
        "static_cast", "reinterpret_cast", "sizeof",
    )
)  # fmt: skip
"""Words that mean the same in every copy."""
_ENDS = (";", "{", "}")
_MOST_LINES = 8
"""Lines that a statement has on either side of the place of a finding."""
_LEAST = 40
"""Characters of a statement, without spaces, from which on two of one shape are taken for copies."""


def statement_shape(place: Place, sources: SourceLines) -> str | None:
    """The statement in which a place lies, with its names numbered in their order and without its numbers; None where
    it is so short that others are like it by chance."""
    text = " ".join(_statement(place, sources))
    return _shape(text) if len("".join(text.split())) >= _LEAST else None


def without_numbers(text: str) -> str:
    """A text in which all numbers are one: `tile_16x32` and `tile_32x64` become the same."""
    return _NUMBER.sub("0", text)


def _statement(place: Place, sources: SourceLines) -> list[str]:
    first, last = place.line, place.end_line
    while first > max(1, place.line - _MOST_LINES) and not _ends(before := _line(place, first - 1, sources)) and before:
        first -= 1
    while last < place.end_line + _MOST_LINES and not _ends(_line(place, last, sources)):
        last += 1
    return [_line(place, number, sources) for number in range(first, last + 1)]


def _ends(line: str) -> bool:
    return line.endswith(_ENDS)


def _line(place: Place, number: int, sources: SourceLines) -> str:
    text = (sources.line(place.path, number) or b"").decode("utf-8", "replace")
    return _COMMENT.sub("", text).strip()


def _shape(text: str) -> str:
    numbers: dict[str, str] = {}
    return " ".join(_word(token, numbers) for token in _TOKEN.findall(text))


def _word(token: str, numbers: dict[str, str]) -> str:
    if token[0].isdigit() or (token[0] == "." and len(token) > 1):
        return "0"
    if token in _KEPT or not (token[0].isalpha() or token[0] == "_"):
        return token
    return numbers.setdefault(token, f"${len(numbers)}")
