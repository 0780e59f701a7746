"""Lists in angle brackets, of a template's parameters or arguments."""

from __future__ import annotations

import re
from typing import Final

_BRACKETS: Final = re.compile(r"[<>(){}\[\],]")


def parts_in_angles(text: str, open_: int) -> tuple[list[tuple[int, int]], int | None]:
    """Where the parts begin and end that stand between the commas of the list that opens at an offset, but for empty
    ones, and what is behind the list; None for that where it doesn't close."""
    places = []
    depth, start = 0, open_ + 1
    for match in _BRACKETS.finditer(text, open_):
        depth += match[0] in "<({["
        depth -= match[0] in ">)}]"
        if depth == 0 or (depth == 1 and match[0] == ","):
            if text[start : match.start()].strip():
                places.append((start, match.start()))
            start = match.end()
        if depth == 0:
            return places, start
    return places, None
