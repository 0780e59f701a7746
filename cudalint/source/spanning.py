"""Which of many alike are looked at: few that show all differences between them.

Each word that stands in some place is in one of them, and of the numbers in a place the smallest, the largest, and
between two powers of two the smallest that is none: banks, sectors and vectors are powers of two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

_FEW: Final = 4
"""So many are all looked at."""


def spanning(rows: Sequence[Sequence[str]]) -> list[int]:
    """Positions of the rows that span all, those first that show most that is new; the first of equals is the first
    row. `rows` are what tells them apart, place by place."""
    if len(rows) <= _FEW:
        return list(range(len(rows)))
    shown = [set(own) for own in _differences(rows)]
    left = set[tuple[int, str]]().union(*shown)
    chosen: list[int] = []
    while left or not chosen:
        best = max(range(len(rows)), key=lambda row: len(shown[row] & left)) if chosen else 0
        chosen.append(best)
        left -= shown[best]
    return chosen


def _differences(rows: Sequence[Sequence[str]]) -> Iterator[Iterator[tuple[int, str]]]:
    """What is to be seen of each row: its places with the words there, but for numbers between others."""
    between: set[tuple[int, str]] = set()
    for place in range(max(map(len, rows))):
        words = {row[place] for row in rows if place < len(row)}
        numbers = sorted((number, word) for word in words if (number := _number(word)) is not None)
        inner = [(place, word) for _, word in numbers[1:-1]]
        if inner and _is_power(numbers[0][0]) and _is_power(numbers[-1][0]):
            odd = next((word for number, word in numbers if not _is_power(number)), None)
            inner = [each for each in inner if each[1] != odd]
        between.update(inner)
    for row in rows:
        yield (each for each in enumerate(row) if each not in between)


def _number(word: str) -> int | None:
    try:
        return int(word.rstrip("uUlL"), 0)
    except ValueError:
        return None


def _is_power(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0
