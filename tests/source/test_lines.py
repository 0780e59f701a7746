"""Whatever a position is, what lies there lies in the text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cudalint.source.lines import Extent, Lines, Position

_TEXTS = st.text("ab\n\r", max_size=12)
_NUMBERS = st.integers(-3, 20) | st.integers()


@given(_TEXTS)
def test_lines_are_those_between_line_feeds(text: str) -> None:
    lines = Lines(text)
    assert list(lines) == text.split("\n")
    assert list(Lines(text.encode())) == text.encode().split(b"\n")
    assert lines.between(1, len(lines)) == text


@given(_TEXTS)
def test_positions_and_offsets_are_the_same_places(text: str) -> None:
    lines = Lines(text)
    for offset in range(len(text) + 1):
        line = text.count("\n", 0, offset) + 1
        column = offset - (text.rfind("\n", 0, offset) + 1) + 1
        assert lines.position(offset) == lines.nearest(line, column) == (line, column)
        assert lines.offset(line, column) == offset
        assert lines.behind(line, column) == text[offset:].split("\n")[0]


@given(_TEXTS, _NUMBERS, _NUMBERS)
def test_what_is_not_there_is_empty_or_the_nearest(text: str, line: int, column: int) -> None:
    lines, all_lines = Lines(text), text.split("\n")
    there = 1 <= line <= len(all_lines)
    assert lines.line(line) == (all_lines[line - 1] if there else "")
    assert lines.behind(line, column) == (all_lines[line - 1][max(column - 1, 0) :] if there else "")
    nearest = lines.nearest(line, column)
    assert lines.position(lines.offset(line, column)) == nearest
    assert 0 <= lines.offset(line, column) <= len(text)
    assert lines.position(line) == lines.position(min(max(line, 0), len(text)))
    if there:
        assert nearest == (line, min(max(column, 1), len(all_lines[line - 1]) + 1))
        assert lines.end(line) == lines.offset(line, len(all_lines[line - 1]) + 1)
    else:
        assert nearest == (Position(1, 1) if line < 1 else lines.position(len(text)))


@given(_TEXTS, _NUMBERS, _NUMBERS, _NUMBERS, _NUMBERS)
def test_extents_never_end_before_they_start(text: str, a: int, b: int, c: int, d: int) -> None:
    lines = Lines(text)
    for extent in (lines.within(Extent(a, b, c, d)), lines.extent(a, b)):
        start, end = lines.offset(*extent[:2]), lines.offset(*extent[2:])
        assert start <= end
        assert lines.extent(start, end) == lines.within(extent) == extent
