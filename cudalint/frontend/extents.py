"""Where the source spells the extents of an array."""

from __future__ import annotations

import re

from cudalint.facts import Place
from cudalint.frontend.source_text import Spellings
from cudalint.ir import nodes as ir
from cudalint.source.brackets import closing


def extent_places(symbol: ir.Symbol, count: int, spellings: Spellings) -> tuple[Place | None, ...]:
    """The text between each pair of brackets behind the name; all None where that isn't plain (a macro, a typedef)."""
    unknown = (None,) * count
    span = symbol.span
    if span.line != span.end_line:
        return unknown
    text = b"".join(spellings.lines_of(Place(*span))).decode("latin-1")
    names = list(re.finditer(rf"\b{re.escape(symbol.name)}\s*(?=\[)", text))
    if not names:
        return unknown
    found: list[Place] = []
    at = names[-1].end()
    while text[at : at + 1] == "[" and (end := closing(text, at, "[]")) is not None:
        found.append(Place(span.path, span.line, span.column + at + 1, span.line, span.column + end - 1))
        at = end + len(text[end:]) - len(text[end:].lstrip())
    return tuple(found) if len(found) == count else unknown
