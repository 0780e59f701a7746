"""A race: what two threads do to one element, along time, and that nothing orders it."""

from __future__ import annotations

from msgspec import Struct

from cudalint.report.drawing.svg import Drawing, box, line, path, text

_LABEL, _WIDTH, _ROW = 210, 420, 40
_BOX = 150
_CHARACTER = 6.7
"""The width of one, at most."""


class Step(Struct, frozen=True):
    """What one of the threads does, and who it is."""

    thread: str
    does: str
    stores: bool


def race(first: Step, second: Step, between: str) -> Drawing:
    """Two time lines, with the accesses one above the other: neither comes first. `between` says what they meet at."""
    label = max(_LABEL, 20 + _CHARACTER * max(len(first.thread), len(second.thread)))
    body = []
    for row, step in enumerate((first, second)):
        y = 16 + row * (_ROW + 22)
        x = label + 40 + row * 70
        body += [
            text(label - 10, y + 15, step.thread, "e"),
            line("l", [(label, y + 11), (label + _WIDTH, y + 11), (label + _WIDTH - 6, y + 7)]),
            path("b" if step.stores else "m", [box(x, y, _BOX, 22)]),
            text(x + _BOX / 2, y + 15, step.does, "c w"),
        ]
    middle = label + 40 + 70 / 2 + _BOX / 2
    top, bottom = 38, 16 + _ROW + 22
    body += [
        f'<path class="x" stroke-dasharray="4 3" d="M{middle} {top}V{bottom}"/>',
        text(middle + 10, (top + bottom) / 2 + 4, between, ""),
    ]
    title = f"{first.thread}: {first.does}; {second.thread}: {second.does}; {between}"
    return Drawing(label + _WIDTH + 10, 16 + 2 * _ROW + 34, "".join(body), title)
