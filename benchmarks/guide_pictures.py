"""Makes the pictures of docs/guide, in docs/images/.

    python benchmarks/guide_pictures.py

They are SVG and need no browser. The addresses are those that lanes 0 to 31 of
the first warp form in the examples that the pages show.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from cudalint.report.drawing.races import Step, race
from cudalint.report.drawing.requests import banks, sectors
from cudalint.report.drawing.roofline import Spot, roofline
from cudalint.report.drawing.svg import Drawing
from cudalint.report.drawing.threads import by_branch, by_warp

_ROOT = Path(__file__).parents[1]
IMAGES = _ROOT / "docs" / "images"
_LANES = np.arange(32, dtype=np.int64)
_ALL = np.ones(32, dtype=bool)
_FLOAT = 4
_PARTICLE = 32
"""Bytes of `Particle` in reading.cu: eight floats."""


def _sectors(first: int, stride: int) -> Drawing:
    """A request whose lane L reads the float at `first + L * stride` bytes."""
    return sectors(first + _LANES * stride, _ALL, _FLOAT)


def _row() -> Drawing:
    """The lanes read one row of a tile of floats."""
    return banks(_LANES * _FLOAT, _ALL, _FLOAT)


def _column(row_words: int) -> Drawing:
    """The lanes read a column of a tile of floats whose rows have so many words: the sixth one, since lanes and banks
    of the first one have the same numbers."""
    return banks((_LANES * row_words + 5) * _FLOAT, _ALL, _FLOAT)


def _branch(is_taken: Callable[[int], bool]) -> Drawing:
    return by_branch((256, 1, 1), [1 if is_taken(thread) else 2 for thread in range(256)])


def _roofline() -> Drawing:
    """An A100, and a kernel that adds two vectors of floats as fast as memory allows: one operation for each 12 bytes,
    which are two loads and a store."""
    bandwidth, peak = 1555.0, 19500.0
    spots = [Spot(1 / 12, bandwidth / 12, "adding vectors"), Spot(170, 3500, "a tiled product")]
    return roofline(bandwidth, peak, spots, "1555 GB/s", "19.5 TFLOP/s")


def pictures() -> dict[str, str]:
    """The content of each picture's file by its name."""
    drawn = {
        "reading-neighbours": _sectors(0, _FLOAT),
        "reading-shifted": _sectors(_FLOAT, _FLOAT),
        "reading-every-other": _sectors(0, 2 * _FLOAT),
        "reading-member": _sectors(0, _PARTICLE),
        "banks-row": _row(),
        "banks-column": _column(32),
        "banks-padded": _column(33),
        "warps-16x16": by_warp((16, 16, 1)),
        "branch-by-lane": _branch(lambda thread: thread % 2 == 0),
        "branch-by-warp": _branch(lambda thread: thread // 32 % 2 == 0),
        "race": race(
            Step("thread (0, 0, 0)", "stores s[0]", stores=True),
            Step("thread (255, 0, 0)", "loads s[0]", stores=False),
            "no barrier between them",
        ),
        "roofline": _roofline(),
    }
    return {f"guide-{name}.svg": drawing.standalone() for name, drawing in drawn.items()}


if __name__ == "__main__":
    for name, content in pictures().items():
        (IMAGES / name).write_text(content, encoding="utf-8")
