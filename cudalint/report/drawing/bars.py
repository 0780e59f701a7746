"""Figures as bars, one below the other."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from cudalint.report.drawing.svg import Drawing, box, path, text

_LABEL, _LENGTH, _VALUE, _ROW = 150, 180, 90, 18


class Bar(Struct, frozen=True):
    """A figure with its name, what it is in words, and whether it is the one that counts."""

    name: str
    value: float
    shown: str
    is_marked: bool = False


def bars(figures: Sequence[Bar], title: str, most: float | None = None) -> Drawing:
    """The longest bar is the largest figure, or `most`."""
    longest = most or max((each.value for each in figures), default=0.0) or 1.0
    plain: list[str] = []
    marked: list[str] = []
    words = []
    for row, each in enumerate(figures):
        y = row * _ROW
        length = min(1.0, max(0.0, each.value / longest)) * _LENGTH
        (marked if each.is_marked else plain).append(box(_LABEL, y + 3, max(length, 1), _ROW - 6))
        words.append(text(_LABEL - 8, y + 13, each.name, "e"))
        words.append(text(_LABEL + length + 6, y + 13, each.shown, "" if each.is_marked else "d"))
    body = path("m", plain) + path("b", marked) + "".join(words)
    return Drawing(_LABEL + _LENGTH + _VALUE, max(1, len(figures)) * _ROW, body, title)
