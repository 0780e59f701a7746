"""Where the functions of a text begin and end, as far as its brackets tell."""

from __future__ import annotations

from typing import Final

from cudalint.regexes import regex
from cudalint.source.lexing import blanked
from cudalint.source.lines import Lines

_MARKS: Final = regex(r"[{};]")
_OF_TYPES: Final = regex(r"(?:__align__|alignas|__attribute__|__declspec)\s*\((?:[^()]|\([^()]*\))*\)")
"""Parentheses that stand in front of a brace which opens no function."""


def function_lines(text: str) -> list[tuple[int, int]]:
    """First and last line of each function, from its head on; of functions in functions, as lambdas, the outer ones.
    None where the braces don't match, as where branches of conditions open one each."""
    code = blanked(text)
    extents = _functions(code)
    if extents is None:
        return []
    lines = Lines(code)
    return [(lines.position(begin).line, lines.position(end).line) for begin, end in extents]


def _functions(code: str) -> list[tuple[int, int]] | None:
    """The offsets of their first letters and of their closing braces: what opens a brace behind parentheses is one, and
    what does so without them, as a namespace or a class, has them in it."""
    found: list[tuple[int, int]] = []
    start = depth = around = 0
    begin = 0
    for mark in _MARKS.finditer(code):
        letter = mark[0]
        if depth:
            depth += (letter == "{") - (letter == "}")
            if depth == 0:
                found.append((begin, mark.start()))
                start = mark.end()
            continue
        head = code[start : mark.start()]
        if letter == "{" and "(" in _OF_TYPES.sub("", head):
            depth, begin = 1, start + len(head) - len(head.lstrip())
            continue
        around += (letter == "{") - (letter == "}")
        if around < 0:
            return None
        start = mark.end()
    return None if depth or around else found
