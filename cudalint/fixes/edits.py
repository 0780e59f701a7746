"""Edits made in texts, and where places of the text before stand in the text after."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from cudalint.diagnostics import Edit
from cudalint.facts import Place
from cudalint.source.lines import Lines
from cudalint.system.disk.encoding import to_bytes, to_text


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """The text with edits made; their columns count bytes, and they don't overlap."""
    data = to_bytes(text)
    lines = Lines(data)
    for edit in sorted(edits, key=lambda e: (e.place.line, e.place.column), reverse=True):
        begin, end = _extent(lines, edit.place)
        data = data[:begin] + to_bytes(edit.text) + data[end:]
    return to_text(data)


def edited_texts(edits: Iterable[Edit], text_of: Callable[[str], str]) -> dict[str, str]:
    """The texts of all files that edits change, by their paths."""
    by_path: dict[str, list[Edit]] = {}
    for edit in edits:
        by_path.setdefault(edit.place.path, []).append(edit)
    return {path: apply_edits(text_of(path), own) for path, own in by_path.items()}


def overlap(edits: Sequence[Edit]) -> bool:
    """Whether two edits change the same text."""
    ordered = sorted(edits, key=lambda edit: edit.place)
    return any(
        a.place.path == b.place.path and (a.place.end_line, a.place.end_column) > (b.place.line, b.place.column)
        for a, b in itertools.pairwise(ordered)
    )


def fit(edits: Iterable[Edit], text_of: Callable[[str], str]) -> bool:
    """Whether all edits are within the texts that they are made in."""
    return all(edit.place.end_line <= text_of(edit.place.path).count("\n") + 1 for edit in edits)


class _Text(Struct, frozen=True, eq=False):
    """What one file was, and what it is."""

    before: Lines[bytes]
    after: Lines[bytes]
    edits: tuple[tuple[int, int, int], ...]
    """Begin and end of what each edit replaces, and by how much it moves what follows."""

    def moved(self, offset: int) -> int:
        """What is put in at the very offset comes before it."""
        return offset + sum(more for _, end, more in self.edits if end <= offset)


class Correspondence(Struct, frozen=True, eq=False):
    """Which places of the texts before and after some edits are the same."""

    texts: dict[str, _Text]

    @classmethod
    def of(cls, edits: Sequence[Edit], text_of: Callable[[str], str]) -> Correspondence:
        texts: dict[str, _Text] = {}
        for path, after in edited_texts(edits, text_of).items():
            before = Lines(to_bytes(text_of(path)))
            own = [(*_extent(before, e.place), e) for e in edits if e.place.path == path]
            moves = tuple((begin, end, len(to_bytes(edit.text)) - (end - begin)) for begin, end, edit in own)
            texts[path] = _Text(before, Lines(to_bytes(after)), moves)
        return cls(texts)

    def before(self, place: Place) -> tuple[str, int, int]:
        """Where a place of the texts before begins, in the texts after."""
        text = self.texts.get(place.path)
        if text is None or place.line > len(text.before):
            return place.path, place.line, place.column
        return place.path, 0, text.moved(text.before.offset(place.line, place.column))

    def after(self, place: Place) -> tuple[str, int, int]:
        """The same for a place of the texts after."""
        text = self.texts.get(place.path)
        if text is None or place.line > len(text.after):
            return place.path, place.line, place.column
        return place.path, 0, text.after.offset(place.line, place.column)

    def line_before(self, path: str, line: int) -> tuple[str, int]:
        """A line of the texts before, by where it ends: what is put in before its code may make two of it."""
        text = self.texts.get(path)
        return path, line if text is None or line > len(text.before) else text.moved(text.before.end(line))

    def line_after(self, path: str, line: int) -> tuple[str, int]:
        text = self.texts.get(path)
        return path, line if text is None or line > len(text.after) else text.after.end(line)


def _extent(lines: Lines[bytes], place: Place) -> tuple[int, int]:
    return lines.offset(place.line, place.column), lines.offset(place.end_line, place.end_column)


class MovedLines(Struct, frozen=True):
    """By how many lines edits move what follows them."""

    steps: dict[str, tuple[tuple[int, int], ...]]
    """By path: the lines on which edits end, and by how much each moves what follows."""

    @classmethod
    def of(cls, edits: Iterable[Edit]) -> MovedLines:
        steps: dict[str, tuple[tuple[int, int], ...]] = {}
        for edit in edits:
            more = edit.text.count("\n") - (edit.place.end_line - edit.place.line)
            steps[edit.place.path] = (*steps.get(edit.place.path, ()), (edit.place.end_line, more))
        return cls(steps)

    def line(self, path: str, line: int) -> int:
        """Where a line is that no edit touches."""
        return line + sum(more for end, more in self.steps.get(path, ()) if end < line)
