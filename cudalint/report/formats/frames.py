"""Code frames: the lines of a finding, with marks under what it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, groupby

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
    touched = _by_lines(edits)
    for together in touched[:_MOST_EDITED]:
        place = together[0].place
        numbers = range(place.line, max(edit.place.end_line for edit in together) + 1)
        found = [sources.line(place.path, number) for number in numbers]
        before = [line for line in found if line is not None]
        if len(before) < len(numbers):
            continue
        after = [line.rstrip(b"\r") for line in _edited(before, place.line, together)]
        # What is put in at the end of a line that is long is of interest, and not its beginning.
        column = display_column(before[0], place.column) if len(before) == 1 else 0
        for _, i, j, k, m in _differences(before, after):
            for number in numbers[i:j]:
                line = _clip(displayed(before[number - place.line]), column)[1]
                yield style.paint(f"{number:>{gutter}} - {line}".rstrip(), "red")
            for each in after[k:m]:
                line = _clip(displayed(each), column)[1]
                yield style.paint(f"{numbers[min(i, len(numbers) - 1)]:>{gutter}} + {line}".rstrip(), "green")
    if len(touched) > _MOST_EDITED:
        yield f"{'':>{gutter}} ... and {len(touched) - _MOST_EDITED} more lines"


def _differences(before: Sequence[bytes], after: Sequence[bytes]) -> Iterator[tuple[str, int, int, int, int]]:
    """From where to where lines before and lines after differ."""
    found = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return (each for each in found if each[0] != "equal")


def _by_lines(edits: Iterable[Edit]) -> list[list[Edit]]:
    """Edits, those together that have a line in common."""
    found: list[list[Edit]] = []
    for edit in sorted(edits, key=lambda edit: edit.place):
        last = found[-1] if found else []
        if any(e.place.path == edit.place.path and edit.place.line <= e.place.end_line for e in last):
            last.append(edit)
        else:
            found.append([edit])
    return found


def _edited(lines: Sequence[bytes], first: int, edits: Sequence[Edit]) -> list[bytes]:
    """Some lines, of which the first has this number, with edits made."""
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    text = b"\n".join(lines)
    for edit in reversed(edits):
        place = edit.place
        begin = starts[place.line - first] + place.column - 1
        end = starts[place.end_line - first] + place.end_column - 1
        text = text[:begin] + to_bytes(edit.text) + text[end:]
    return text.split(b"\n")
