"""One request of a warp: which lanes meet in a bank of shared memory, and what is used of each sector."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from cudalint.hardware.banks import BANK_BYTES, BANKS, BankWord, bank_map
from cudalint.hardware.requests import WARP_LANES
from cudalint.hardware.sectors import SECTOR_BYTES, sector_map
from cudalint.numerals import count
from cudalint.report.drawing.svg import Drawing, box, number, path, text

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_WORDS = 8
"""Words of a bank that are drawn, over all parts of a request."""
_COLUMN, _ROW, _GAP = 18, 15, 2
_HEAD = 16
_PART_HEAD = 16


def banks(addresses: NDArray[Any], mask: NDArray[Any], width: int) -> Drawing:
    """A column for each bank, in it a cell for each word that it has to serve, and in the cell the lanes that want it:
    the first, and `+` where others share the word, which costs nothing. Cells of a bank that serves several words are
    conflicts. `addresses` (bytes) and `mask` are those of 32 lanes of which each moves `width` bytes.

    Requests of 8 and 16 bytes a lane pass in halves and quarters, whose lanes never meet: each has rows of its own.
    """
    parts = max(1, width // BANK_BYTES)
    lanes = WARP_LANES // parts
    y, body, deepest = 0.0, [], 0
    for part in range(parts):
        own = mask.copy()
        own[: part * lanes] = own[(part + 1) * lanes :] = False
        if not own.any() and parts > 1:
            continue
        if parts > 1:
            body.append(text(0, y + 11, f"lanes {part * lanes} to {(part + 1) * lanes - 1}", "d"))
            y += _PART_HEAD
        words = bank_map(addresses, own, width)
        deepest = max(deepest, *map(len, words))
        drawn, used = _part(words, y, max(2, _MOST_WORDS // parts))
        body.append(drawn)
        y += used
    title = f"{count(int(mask.sum()), 'lane')} in 32 banks; the busiest bank serves {count(deepest, 'word')}"
    return Drawing(BANKS * _COLUMN, y, "".join(body), title)


def _part(words: Sequence[Sequence[BankWord]], y: float, most: int) -> tuple[str, float]:
    """The rows of one part of a request, and how high they are."""
    depth = max(map(len, words))
    rows = max(1, min(depth, most))
    fine: list[str] = []
    conflicts: list[str] = []
    free, lanes = [], []
    for bank, served in enumerate(words):
        for level in range(rows):
            x, top = bank * _COLUMN, y + _HEAD + level * _ROW
            cell = box(x + 1, top, _COLUMN - _GAP, _ROW - _GAP)
            if level >= len(served):
                free += [cell] if level == 0 else []
                continue
            (conflicts if len(served) > 1 else fine).append(cell)
            first, *others = served[level].lanes
            lanes.append(f'<text x="{x + _COLUMN // 2}" y="{number(top + 10)}">{first}{"+" if others else ""}</text>')
    heads = "".join(text(bank * _COLUMN + _COLUMN / 2, y + 11, str(bank), "d w") for bank in range(0, BANKS, 4))
    body = heads + path("o", free) + path("k", fine) + path("b", conflicts) + f'<g class="c w">{"".join(lanes)}</g>'
    used = _HEAD + rows * _ROW
    if depth > rows:
        busiest = sum(len(served) == depth for served in words)
        where = "each bank" if busiest == BANKS else "one bank" if busiest == 1 else f"{busiest} banks"
        body += text(0, y + used + 12, f"and {count(depth - rows, 'more word')} in {where}", "d")
        used += _PART_HEAD
    return body, used + 2


_CELL, _CELLS, _PER_ROW = 8, SECTOR_BYTES // BANK_BYTES, 8
_MOST_ROWS = 4
_LABEL = 66


def sectors(addresses: NDArray[Any], mask: NDArray[Any], width: int) -> Drawing:
    """A strip for each sector of 32 bytes that the request moves, in cells of 4 bytes: those that a lane uses, and
    those that come along. Strips that follow one another in memory touch; in front of a row stands the byte at which it
    begins. Arguments as for `banks`."""
    numbers = [sector.number for sector in sector_map(addresses, mask, width)]
    used = {byte // BANK_BYTES for first in addresses[mask].tolist() for byte in range(first, first + width)}
    rows = [numbers[i : i + _PER_ROW] for i in range(0, len(numbers), _PER_ROW)]
    taken: dict[bool, list[str]] = {True: [], False: []}
    body, y = [], 0.0
    for row in rows[:_MOST_ROWS]:
        body.append(text(_LABEL - 8, y + 10, f"{row[0] * SECTOR_BYTES:+d}", "d e"))
        x: float = _LABEL
        for before, sector in zip([row[0] - 1, *row], row, strict=False):
            x += 1 if sector == before + 1 else 5
            at = x
            for is_used, cells in groupby(sector * _CELLS + cell in used for cell in range(_CELLS)):
                length = len(list(cells)) * _CELL
                taken[is_used].append(box(at, y, length - 0.5, 12))
                at += length
            x = at
        y += 16
    body += [path("o", taken[False]), path("k", taken[True])]
    left_out = len(numbers) - _MOST_ROWS * _PER_ROW
    if left_out > 0:
        body.append(text(_LABEL, y + 10, f"and {count(left_out, 'more sector')}", "d"))
        y += 16
    moved = len(numbers) * SECTOR_BYTES
    lost = 1 - len(used) * BANK_BYTES / moved if moved else 0.0
    title = f"{count(len(numbers), 'sector')}, {moved} bytes moved, {max(0.0, lost):.0%} of them unused"
    return Drawing(_LABEL + _PER_ROW * (_CELLS * _CELL + 5), y, "".join(body), title)
