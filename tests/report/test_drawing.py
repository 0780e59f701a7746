"""Pictures: what is drawn follows from the figures, and text in them stays text."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from cudalint.report.drawing.bars import Bar, bars
from cudalint.report.drawing.races import Step, race
from cudalint.report.drawing.requests import banks, sectors
from cudalint.report.drawing.roofline import Spot, roofline
from cudalint.report.drawing.svg import Drawing
from cudalint.report.drawing.threads import by_branch, by_warp
from cudalint.report.drawing.treemap import treemap

_LANES = np.arange(32, dtype=np.int64)
_ALL = np.ones(32, dtype=bool)


def _boxes(drawing: Drawing, look: str) -> list[float]:
    """The widths of the boxes that have a look."""
    return [
        float(width)
        for data in re.findall(rf'<path class="{look}" d="([^"]*)"', drawing.body)
        for width in re.findall(r"h([\d.]+)v", data)
    ]


def _words(drawing: Drawing) -> str:
    return " ".join(ElementTree.fromstring(drawing.standalone()).itertext())


def test_a_column_of_32_words_is_one_bank_with_32_words() -> None:
    """The row is 128 bytes, a whole turn of the banks: all lanes meet in bank 0, of whose 32 words 8 are drawn."""
    drawing = banks(_LANES * 128, _ALL, 4)
    assert len(_boxes(drawing, "b")) == 8
    assert _boxes(drawing, "k") == []
    assert len(_boxes(drawing, "o")) == 31
    assert "and 24 more words in one bank" in _words(drawing)
    assert drawing.title == "32 lanes in 32 banks; the busiest bank serves 32 words"


def test_a_row_of_32_words_has_a_bank_for_each_lane() -> None:
    drawing = banks(_LANES * 4, _ALL, 4)
    assert (len(_boxes(drawing, "k")), _boxes(drawing, "b")) == (32, [])


def test_requests_of_8_bytes_pass_in_halves() -> None:
    """16 lanes of 8 bytes fill the 32 banks, twice."""
    drawing = banks(_LANES * 8, _ALL, 8)
    assert len(_boxes(drawing, "k")) == 64
    assert "lanes 16 to 31" in _words(drawing)


def test_a_stride_of_a_sector_uses_an_eighth() -> None:
    """32 sectors of 32 bytes, of each of which a lane uses 4: a cell is 8 wide, of 4 bytes."""
    drawing = sectors(_LANES * 32, _ALL, 4)
    assert len(_boxes(drawing, "k")) == 32
    assert set(_boxes(drawing, "k")) == {8 - 0.5}
    assert set(_boxes(drawing, "o")) == {7 * 8 - 0.5}
    assert "32 sectors, 1024 bytes moved, 88% of them unused" in drawing.title


def test_a_warp_of_a_block_16_wide_has_two_rows() -> None:
    """8 warps in 6 colours, each of two rows of 16 threads of 9 units."""
    drawing = by_warp((16, 16, 1))
    rows = {look: _boxes(drawing, look) for look in ("w0", "w1", "w2", "w3", "w4", "w5")}
    assert [len(found) for found in rows.values()] == [4, 4, 2, 2, 2, 2]
    assert {width for found in rows.values() for width in found} == {16 * 9}


def test_warps_of_one_colour_have_their_numbers() -> None:
    """Of 8 warps the first and the seventh have one colour."""
    words = re.findall(r"<text[^>]*>(\d+)</text>", by_warp((16, 16, 1)).body.partition('class="n"')[2])
    assert words == [str(warp) for warp in range(8)]


def test_the_label_of_a_thread_is_in_the_picture() -> None:
    """Of 40 characters: their text ends 10 units before the line begins, and takes 6.6 for each at 11 pixels."""
    label = "thread (0, 0, 0) of the block (215, 0, 0)"
    drawing = race(Step(label, "line 1: store", True), Step("thread 1", "line 2: load", False), "")
    (end,) = re.findall(rf'<text class="e" x="([\d.]+)" y="[\d.]+">{re.escape(label)}</text>', drawing.body)
    assert float(end) >= 6.6 * len(label)


def test_the_sides_of_a_branch_have_two_colours() -> None:
    """Every other thread takes it: 32 runs of one thread each on either side, in a block of two warps."""
    drawing = by_branch((64, 1, 1), [1, 2] * 32)
    assert (len(_boxes(drawing, "m")), len(_boxes(drawing, "b"))) == (32, 32)
    assert drawing.title == "32 threads of 64 take the branch (blue), 32 go the other way (orange)"


@pytest.mark.parametrize(("reached", "has_way_to_go"), [(400.0, False), (40.0, True)])
def test_a_kernel_on_the_roof_has_no_way_to_go(reached: float, has_way_to_go: bool) -> None:
    """4 operations a byte at 100 GB/s are 400 GFLOP/s, below the peak of 1000."""
    drawing = roofline(100.0, 1000.0, [Spot(4.0, reached)], "DRAM", "FP32")
    assert ('class="x"' in drawing.body) is has_way_to_go


def test_bars_are_as_long_as_their_figures() -> None:
    drawing = bars([Bar("a", 4.0, "4 us", True), Bar("b", 1.0, "1 us")], "a and b")
    assert _boxes(drawing, "b") == [4 * _boxes(drawing, "m")[0]]


def test_text_is_text() -> None:
    hostile = '</text><script>alert("1")</script>&'
    drawing = race(Step(hostile, hostile, True), Step("thread 1", "line 2: load", False), hostile)
    # Three texts in the picture, and the three again in its title.
    assert _words(drawing).count(hostile) == 6
    assert "<script" not in drawing.standalone()


def test_areas_are_as_large_as_their_figures() -> None:
    """And fill the whole without lying on one another."""
    sizes = [60.0, 20.0, 10.0, 5.0, 3.0, 1.0, 1.0]
    areas = treemap(sizes, 200.0, 100.0)
    assert [area.width * area.height / 200 for area in areas] == pytest.approx(sizes)
    for number, a in enumerate(areas):
        assert min(a.x, a.y) >= 0
        assert a.x + a.width <= 200 + 1e-9
        assert a.y + a.height <= 100 + 1e-9
        for b in areas[number + 1 :]:
            across = min(a.x + a.width, b.x + b.width) - max(a.x, b.x)
            down = min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
            assert min(across, down) <= 1e-9


def test_there_is_no_map_of_nothing() -> None:
    assert treemap([], 100.0, 100.0) == treemap([0.0], 100.0, 100.0) == []
