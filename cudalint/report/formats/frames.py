"""Code frames: the lines of a finding, with marks under what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from cudalint.diagnostics import Diagnostic, Edit, Related
from cudalint.facts import Place
from cudalint.report.findings.sources import SourceLines, display_column, displayed
from cudalint.report.formats.style import Look, Style
from cudalint.system.disk.encoding import to_bytes

_MOST_LABELS = 4
_MOST_EDITED = 8
"""Lines of a suggestion that are shown; JSON and SARIF have all."""
_WIDEST_LINE = 160


class _Mark(Struct, frozen=True):
    """A piece of source to underline, and what to say about it."""

    place: Place
    character: str
    label: str
    look: Look


def gutter_width(diagnostic: Diagnostic) -> int:
    """The width of the largest line number in the diagnostic's frames."""
    lines = [diagnostic.place.line, *(related.place.line for related in _related(diagnostic))]
    if diagnostic.suggestion:
        lines += (edit.place.line for edit in diagnostic.suggestion.edits)
    return len(str(max(lines)))


def code_frame(diagnostic: Diagnostic, sources: SourceLines, style: Style, gutter: int) -> Iterator[str]:
    """The finding's line and, where they are in sight, the lines of related places."""
    look: Look = "red" if diagnostic.severity == "error" else "yellow"
    if diagnostic.severity == "info":
        look = "cyan"
    marks = [_Mark(diagnostic.place, "^", "", look)]
    marks += (_Mark(r.place, "-", r.message, "blue") for r in _related(diagnostic)[:_MOST_LABELS])
    here = diagnostic.place
    yield f"{' ' * gutter}{style.paint('-->', 'blue')} {here.path}:{here.line}:{here.column}"
    yield from _file_frame([mark for mark in marks if mark.place.path == here.path], sources, style, gutter)
    elsewhere = sorted((mark for mark in marks if mark.place.path != here.path), key=lambda m: m.place)
    for path, group in groupby(elsewhere, key=lambda mark: mark.place.path):
        marks_there = list(group)
        yield f"{' ' * gutter}{style.paint(':::', 'blue')} {path}:{marks_there[0].place.line}"
        yield from _file_frame(marks_there, sources, style, gutter)


def _related(diagnostic: Diagnostic) -> list[Related]:
    """The related places, and on the lines that follow those of the same cause."""
    related = list(diagnostic.related)
    last = diagnostic
    for other in diagnostic.also:
        if other.place != last.place:
            follows = other.place.path == last.place.path and 0 <= other.place.line - last.place.line <= 1
            if not follows:
                break
            related.append(Related(other.place, "the same"))
        last = other
    return related


def _file_frame(marks: Sequence[_Mark], sources: SourceLines, style: Style, gutter: int) -> Iterator[str]:
    """The marked lines of one file, in order, with `...` where lines are left out; nothing if the file is gone."""
    bar = style.paint(f"{' ' * gutter} |", "blue")
    before = 0
    for number, group in groupby(sorted(marks, key=lambda mark: mark.place.line), lambda m: m.place.line):
        line = sources.line(marks[0].place.path, number)
        if line is None:
            continue
        if not before:
            yield bar
        elif number > before + 1:
            yield style.paint("...", "blue")
        before = number
        yield from _marked_line(number, line, list(group), style, gutter)
    if before:
        yield bar


def _marked_line(number: int, line: bytes, marks: Sequence[_Mark], style: Style, gutter: int) -> Iterator[str]:
    bar = style.paint(f"{' ' * gutter} |", "blue")
    ordered = sorted(marks, key=lambda mark: mark.place.column)
    start, text = _clip(displayed(line), display_column(line, ordered[0].place.column))
    yield f"{style.paint(f'{number:>{gutter}} |', 'blue')} {text}".rstrip()
    for equal in _on_one_row(ordered):
        yield f"{bar} {_underlines(equal, line, start, style)}"


def _on_one_row(marks: Iterable[_Mark]) -> list[list[_Mark]]:
    """Marks that say the same and don't overlap stand in one row, which says it once; the same mark comes once."""
    rows: list[list[_Mark]] = []
    for mark in dict.fromkeys(marks):
        row = next((row for row in rows if row[-1].label and _goes_on(row[-1], mark)), None)
        if row is None:
            rows.append([mark])
        else:
            row.append(mark)
    return rows


def _goes_on(last: _Mark, mark: _Mark) -> bool:
    is_equal = (last.character, last.label, last.look) == (mark.character, mark.label, mark.look)
    ends_before = last.place.end_line == last.place.line and last.place.end_column < mark.place.column
    return is_equal and ends_before


def _clip(text: str, column: int) -> tuple[int, str]:
    """Cuts a line that is too long for any terminal to the part around a column."""
    if len(text) <= _WIDEST_LINE:
        return 0, text
    start = max(0, column - _WIDEST_LINE // 2)
    return start, text[start : start + _WIDEST_LINE]


def _underlines(marks: Sequence[_Mark], line: bytes, start: int, style: Style) -> str:
    """A row of marks, with the label that they have in common behind the last."""
    row, column = "", start
    for mark in marks:
        first = display_column(line, mark.place.column)
        if mark.place.end_line == mark.place.line:
            last = display_column(line, mark.place.end_column)
        else:
            last = len(displayed(line.rstrip()))
        length = max(1, min(last - first, start + _WIDEST_LINE - first))
        if mark is not marks[0] and first >= start + _WIDEST_LINE:
            break
        row += " " * max(0, first - column) + mark.character * length
        column = max(first, column) + length
    indent = len(row) - len(row.lstrip())
    return row[:indent] + style.paint(f"{row[indent:]} {marks[0].label}".rstrip(), marks[0].look)


def edit_lines(edits: Sequence[Edit], sources: SourceLines, style: Style, gutter: int) -> Iterator[str]:
    """What the edits change: each line that they touch, before and after."""
    ordered = sorted(edits, key=lambda edit: edit.place)

    def clipped(line: bytes, before: bytes, edit: Edit) -> str:
        return _clip(displayed(line), display_column(before, edit.place.column))[1]

    touched = [list(group) for _, group in groupby(ordered, key=lambda edit: (edit.place.path, edit.place.line))]
    for on_line in touched[:_MOST_EDITED]:
        number = on_line[0].place.line
        line = sources.line(on_line[0].place.path, number)
        if line is None or any(edit.place.end_line != number for edit in on_line):
            # A change over several lines is left to whoever applies it.
            continue
        changed = [after.rstrip(b"\r") for after in _edited(line, on_line).split(b"\n")]
        if line in changed:
            changed.remove(line)  # New lines before or behind it.
        else:
            yield style.paint(f"{number:>{gutter}} - {clipped(line, line, on_line[0])}", "red")
        for after in changed:
            yield style.paint(f"{number:>{gutter}} + {clipped(after, line, on_line[0])}", "green")
    if len(touched) > _MOST_EDITED:
        yield f"{'':>{gutter}} ... and {len(touched) - _MOST_EDITED} more lines"


def _edited(line: bytes, edits: Sequence[Edit]) -> bytes:
    for edit in reversed(edits):
        line = line[: edit.place.column - 1] + to_bytes(edit.text) + line[edit.place.end_column - 1 :]
    return line
