"""Pictures of one request: which lanes meet in a shared-memory bank, and what a warp uses of each sector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.diagnostics import Picture
from cudalint.numerals import count
from cudalint.report.formats.style import Style

NEEDED_WIDTH = 100
"""32 banks of three characters each, and a small margin."""

_MOST_WORDS = 8
_SECTORS_PER_ROW = 8
_MOST_SECTOR_ROWS = 4
_CELL_BYTES = 4


def draw(picture: Picture, style: Style) -> Iterator[str]:
    """The lines of a picture, without a margin."""
    if picture.kind == "banks":
        yield from _draw_banks(picture, style)
    else:
        yield from _draw_sectors(picture, style)


# --- banks ----------------------------------------------------------------------------------------


def _draw_banks(picture: Picture, style: Style) -> Iterator[str]:
    """One column per bank, one row per word that the bank must serve; a cell names the first lane that wants it.

    Requests of 8 and 16 bytes per lane pass the banks in halves and quarters, and lanes of different parts never
    meet, so each part has rows of its own.
    """
    sample, request = picture.sample, picture.request
    parts = max(1, picture.bytes // _CELL_BYTES)
    lanes = len(sample.mask[request]) // parts
    title = f"lanes of warp {int(sample.warps[request])} below the bank that serves them"
    yield style.paint(f"{title}; each further row is another word of the bank", "dim")
    for part in range(parts):
        first, last = part * lanes, (part + 1) * lanes
        if parts > 1:
            yield style.paint(f"lanes {first} to {last - 1}, {picture.bytes} bytes each:", "dim")
        yield from _draw_part(picture, first, last, max(2, _MOST_WORDS // parts), style)


def _draw_part(picture: Picture, first: int, last: int, most_words: int, style: Style) -> Iterator[str]:
    from cudalint.hardware.banks import bank_map

    mask = picture.sample.mask[picture.request].copy()
    mask[:first] = mask[last:] = False
    banks = bank_map(picture.sample.addresses[picture.request], mask, picture.bytes)
    depth = max(len(words) for words in banks)
    yield style.paint("".join(f"{bank:3d}" for bank in range(len(banks))), "blue")
    for level in range(min(depth, most_words)):
        yield "".join(_bank_cell([word.lanes for word in words], level, style) for words in banks)
    if depth > most_words:
        busiest = [str(bank) for bank, words in enumerate(banks) if len(words) == depth]
        where = f"bank {busiest[0]}" if len(busiest) == 1 else f"{len(busiest)} banks"
        yield style.paint(f"  ... and {count(depth - most_words, 'more word')} in {where}", "dim")


def _bank_cell(lanes_of_words: Sequence[tuple[int, ...]], level: int, style: Style) -> str:
    """The lane that wants the bank's word at this level; `+` says that others want the same word, which is free."""
    if level >= len(lanes_of_words):
        return style.paint("  .", "dim")
    lanes = lanes_of_words[level]
    # The lane is right-aligned under the bank's number where nobody shares the word.
    text = f"{lanes[0]:2d}+" if len(lanes) > 1 else f"{lanes[0]:3d}"
    return style.paint(text, "red" if len(lanes_of_words) > 1 else "green")


# --- sectors --------------------------------------------------------------------------------------


def _draw_sectors(picture: Picture, style: Style) -> Iterator[str]:
    """A strip of the sectors that the warp touches, with used and wasted bytes distinguished.

    One request need not be the mean of all, which the finding's own share of wasted traffic is, so that this has none.
    """
    from cudalint.hardware.sectors import SECTOR_BYTES, sector_map

    sample, request = picture.sample, picture.request
    sectors = sector_map(sample.addresses[request], sample.mask[request], picture.bytes)
    used = _bytes_used(picture)
    yield style.paint(
        f"one request, of warp {int(sample.warps[request])}, touches {count(len(sectors), 'sector')}: "
        f"{len(sectors) * SECTOR_BYTES} bytes moved, {len(used)} used (a cell is {_CELL_BYTES} bytes)",
        "dim",
    )
    numbers = [sector.number for sector in sectors]
    rows = [numbers[i : i + _SECTORS_PER_ROW] for i in range(0, len(numbers), _SECTORS_PER_ROW)]
    for row in rows[:_MOST_SECTOR_ROWS]:
        yield _sector_row(row, used, SECTOR_BYTES, style)
    left_out = sum(map(len, rows[_MOST_SECTOR_ROWS:]))
    if left_out:
        yield style.paint(f"... and {count(left_out, 'more sector')}", "dim")


def _bytes_used(picture: Picture) -> frozenset[int]:
    sample, request = picture.sample, picture.request
    addresses = sample.addresses[request][sample.mask[request]].tolist()
    return frozenset(byte for address in addresses for byte in range(address, address + picture.bytes))


def _sector_row(numbers: Sequence[int], used: frozenset[int], size: int, style: Style) -> str:
    """The offset of the row's first byte, then its sectors; `~` stands for memory between two that isn't touched."""
    cells = style.paint(f"{numbers[0] * size:+#10x} ", "blue")
    for before, number in zip([None, *numbers], numbers, strict=False):
        if before is not None:
            cells += style.paint("|" if number == before + 1 else "~", "dim")
        cells += _sector_cells(number * size, size, used, style)
    return cells


def _sector_cells(start: int, size: int, used: frozenset[int], style: Style) -> str:
    full, part, none = "█▒░" if style.unicode else "#+."
    cells = ""
    for first in range(start, start + size, _CELL_BYTES):
        share = sum(byte in used for byte in range(first, first + _CELL_BYTES))
        cells += full if share == _CELL_BYTES else part if share else none
    # Runs of equal cells are painted at once, so that a strip costs few escape codes.
    painted, run = "", ""
    for cell in cells:
        if run and cell != run[0]:
            painted, run = painted + _paint_run(run, none, style), ""
        run += cell
    return painted + _paint_run(run, none, style)


def _paint_run(run: str, none: str, style: Style) -> str:
    return style.paint(run, "red" if run[0] == none else "green")
