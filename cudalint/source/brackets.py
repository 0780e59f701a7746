"""What brackets enclose in a text without comments and literals."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from cudalint.regexes import regex

_OPENING: Final = "([{<"
_IN_ANGLES: Final = regex(r"[<>(){}\[\],]")


def closing(code: str, opening: int, pairs: str = "()[]{}") -> int | None:
    """Behind the bracket that closes the one at an offset; None where none does. Each of the `pairs` counts for all."""
    depth = 0
    for bracket in re.compile(f"[{re.escape(pairs)}]").finditer(code, opening):
        depth += 1 if bracket[0] in _OPENING else -1
        if depth == 0:
            return bracket.end()
    return None


def outside(code: str, wanted: str, begin: int, end: int) -> Iterator[int]:
    """Where a character stands between two offsets, but for those in brackets."""
    depth = 0
    for found in re.compile(rf"[\[\](){{}}{re.escape(wanted)}]").finditer(code, begin, end):
        if found[0] == wanted and depth == 0:
            yield found.start()
        elif found[0] in "()[]{}":
            depth += 1 if found[0] in _OPENING else -1


def parts_in_angles(text: str, opening: int) -> tuple[list[tuple[int, int]], int | None]:
    """Where the parts begin and end that stand between the commas of the list in angle brackets that opens at an
    offset, but for empty ones, and what is behind the list; None for that where it doesn't close. What is in
    parentheses compares."""
    places = []
    depth, inside, start = 0, 0, opening + 1
    for match in _IN_ANGLES.finditer(text, opening):
        inside += (match[0] == "(") - (match[0] == ")")
        if inside > 0 and match[0] in "<>":
            continue
        depth += (match[0] in "<({[") - (match[0] in ">)}]")
        if depth == 0 or (depth == 1 and match[0] == ","):
            if text[start : match.start()].strip():
                places.append((start, match.start()))
            start = match.end()
        if depth == 0:
            return places, start
    return places, None


def list_in_angles(text: str, opening: int) -> tuple[list[str], int]:
    """The parts of such a list, and where it ends; none, and the end of the text, of one that doesn't close."""
    places, end = parts_in_angles(text, opening)
    return ([text[begin:stop].strip() for begin, stop in places], end) if end is not None else ([], len(text))


def parts_of_list(text: str) -> Iterator[str]:
    """What stands between the commas of the first `<...>`, be it closed or not."""
    return (text[start:end].strip() for start, end in parts_in_angles(text, text.find("<"))[0])
