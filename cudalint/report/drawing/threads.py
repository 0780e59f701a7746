"""The threads of a block: which warp each belongs to, and which way it goes at a branch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import groupby

from cudalint.hardware.requests import WARP_LANES
from cudalint.numerals import count
from cudalint.report.drawing.svg import Drawing, box, path, text

_SIZE = 9
_MOST_ROWS = 32
_LABEL = 36
_COLOURS = 6


def by_warp(block: tuple[int, int, int]) -> Drawing:
    """A row of cells for each row of the block (x across, y and z down), in a colour for each warp, whose number stands
    at its first thread: colours come again after some warps."""
    warps = [thread // WARP_LANES for thread in range(math.prod(block))]
    drawing = _drawn(block, [f"w{warp % _COLOURS}" for warp in warps])
    width, rows = block[0], block[1] * block[2]
    whole = count(-(-len(warps) // WARP_LANES), "warp")
    threads = f"{width} by {rows} threads, x across" if rows > 1 else f"{width} threads"
    title = f"{whole} of a block of {threads}"
    return Drawing(drawing.width, drawing.height, drawing.body + _numbers(block), title)


def by_branch(block: tuple[int, int, int], ways: Sequence[int], is_loop: bool = False) -> Drawing:
    """The same in the colours of what each thread does at a branch: 1 takes it, 2 goes the other way, 0 doesn't get
    there. Of a loop: 1 goes on for as long as any thread of its warp, 2 waits. Lines part the warps."""
    looks = {0: "o", 1: "m", 2: "b"}
    drawing = _drawn(block, [looks[way] for way in ways])
    lines = path("l", _seams(block))
    taken, others = sum(way == 1 for way in ways), sum(way == 2 for way in ways)
    verb, other = ("go on to the end", "wait for them") if is_loop else ("take the branch", "go the other way")
    title = f"{count(taken, 'thread')} of {len(ways)} {verb} (blue), {others} {other} (orange)"
    return Drawing(drawing.width, drawing.height, drawing.body + lines, title)


def _shape(block: tuple[int, int, int]) -> tuple[int, int]:
    """Columns and rows: those of the block, or of its warps where it has one row only."""
    x, rest = block[0], block[1] * block[2]
    return (x, rest) if rest > 1 and x <= 2 * WARP_LANES else (WARP_LANES, -(-math.prod(block) // WARP_LANES))


def _drawn(block: tuple[int, int, int], looks: Sequence[str]) -> Drawing:
    columns, rows = _shape(block)
    shown = min(rows, _MOST_ROWS)
    parts: dict[str, list[str]] = {}
    labels = []
    for row in range(shown):
        own = looks[row * columns : (row + 1) * columns]
        x = 0
        for look, cells in groupby(own):
            length = len(list(cells))
            parts.setdefault(look, []).append(box(_LABEL + x * _SIZE, row * _SIZE, length * _SIZE, _SIZE - 1))
            x += length
        if row % 4 == 0:
            labels.append(text(_LABEL - 6, row * _SIZE + 9, str(row), "d e"))
    body = "".join(labels) + "".join(path(look, parts[look]) for look in sorted(parts))
    height = shown * _SIZE + 2
    if rows > shown:
        body += text(_LABEL, height + 11, f"and {count(rows - shown, 'more row')}", "d")
        height += 16
    return Drawing(_LABEL + columns * _SIZE + 1, max(height, 12), body, "")


def _numbers(block: tuple[int, int, int]) -> str:
    """Of the warps whose first threads are shown."""
    columns, rows = _shape(block)
    threads = min(rows, _MOST_ROWS) * columns
    first = range(0, min(threads, math.prod(block)), WARP_LANES)
    labels = [
        text(_LABEL + thread % columns * _SIZE + 2, thread // columns * _SIZE + _SIZE - 1.5, str(thread // WARP_LANES))
        for thread in first
    ]
    return f'<g class="n">{"".join(labels)}</g>'


def _seams(block: tuple[int, int, int]) -> Iterator[str]:
    """The lines between threads of different warps."""
    columns, rows = _shape(block)
    for row in range(min(rows, _MOST_ROWS)):
        for column in range(columns):
            thread = row * columns + column
            x, y = _LABEL + column * _SIZE, row * _SIZE
            if column and thread % WARP_LANES == 0:
                yield f"M{x} {y}v{_SIZE}"
        if row and row * columns % WARP_LANES == 0:
            yield f"M{_LABEL} {row * _SIZE - 0.5}h{columns * _SIZE}"
