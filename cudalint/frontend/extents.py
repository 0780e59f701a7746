"""Where the source spells the extents of an array."""

from __future__ import annotations

import re

from cudalint.facts import Place
from cudalint.frontend.source_text import Spellings
from cudalint.ir import nodes as ir


def extent_places(symbol: ir.Symbol, count: int, spellings: Spellings) -> tuple[Place | None, ...]:
    """The text between each pair of brackets behind the name; all None where that isn't plain (a macro, a typedef)."""
    unknown = (None,) * count
    span = symbol.span
    if span.line != span.end_line:
        return unknown
    text = b"".join(spellings.lines_of(Place(*span)))
    names = list(re.finditer(rb"\b%s\s*(?=\[)" % re.escape(symbol.name.encode()), text))
    if not names:
        return unknown
    found = _brackets(text, names[-1].end())
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
