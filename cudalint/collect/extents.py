"""Where the extents of an array are spelled in its declaration: what a fix has to change."""

from __future__ import annotations

from functools import lru_cache

from cudalint import ir
from cudalint.facts import Place
from cudalint.source.lines import read_lines


def extent_places(symbol: ir.Symbol, count: int) -> tuple[Place | None, ...]:
    """The text between each pair of brackets behind the name; all None where that isn't plain (a macro, a typedef)."""
    unknown = (None,) * count
    span = symbol.span
    if span.line != span.end_line:
        return unknown
    line = _line(span.path, span.line)
    text = line[span.column - 1 : span.end_column - 1]
    name = text.rfind(symbol.name.encode() + b"[")
    if name < 0:
        return unknown
    found = _brackets(text, name + len(symbol.name.encode()))
    if len(found) != count:
        return unknown
    first = span.column
    return tuple(Place(span.path, span.line, first + a, span.line, first + b) for a, b in found)


def _brackets(text: bytes, start: int) -> list[tuple[int, int]]:
    """The insides of the bracket pairs that follow one another from `start` on."""
    found: list[tuple[int, int]] = []
    depth, opened = 0, 0
    for position in range(start, len(text)):
        character = text[position : position + 1]
        if character == b"[":
            depth += 1
            opened = position + 1 if depth == 1 else opened
        elif character == b"]":
            depth -= 1
            if depth == 0:
                found.append((opened, position))
        elif depth == 0 and not character.isspace():
            break
    return found


_lines = lru_cache(maxsize=8)(read_lines)


def _line(path: str, number: int) -> bytes:
    lines = _lines(path)
    return lines[number - 1] if 0 < number <= len(lines) else b""
