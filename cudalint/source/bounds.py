"""Places within their texts. Places come from clang, which has its own idea of where lines end and reads texts that
were mended, and from whatever was worked out from those. What leaves the analysis has passed here, so that nobody after
it has to ask whether there is a line."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic
from cudalint.disk.encoding import to_bytes
from cudalint.facts import Place


class Bounds:
    """Where the lines of some texts end. Each text is asked for once; one that is gone is empty, and places in it are
    only seen to begin at 1."""

    def __init__(self, text_of: Callable[[str], str]) -> None:
        self._text_of = text_of
        self._lengths: dict[str, list[int]] = {}

    def within(self, place: Place) -> Place:
        """The same place where it lies in its text; else the nearest one there, which may be empty."""
        lengths = self._lengths_of(place.path)
        start = _within(place.line, place.column, lengths)
        end = max(start, _within(place.end_line, place.end_column, lengths))
        found = Place(place.path, *start, *end)
        return place if found == place else found

    def placed(self, diagnostic: Diagnostic) -> Diagnostic:
        """A finding whose places all lie in their texts; without its edits where one of them did not."""
        place = self.within(diagnostic.place)
        related = tuple([replace(each, place=self.within(each.place)) for each in diagnostic.related])
        if (place, related) != (diagnostic.place, diagnostic.related):
            diagnostic = replace(diagnostic, place=place, related=related)
        allowed = diagnostic.justification
        if allowed is not None:
            diagnostic = replace(diagnostic, justification=replace(allowed, place=self.within(allowed.place)))
        suggestion = diagnostic.suggestion
        if suggestion is not None and any(self.within(edit.place) != edit.place for edit in suggestion.edits):
            words = replace(suggestion, edits=(), applicability="display")
            diagnostic = replace(diagnostic, suggestion=words)
        return diagnostic

    def _lengths_of(self, path: str) -> list[int]:
        if path not in self._lengths:
            text = self._text_of(path)
            self._lengths[path] = [len(line) for line in to_bytes(text).split(b"\n")] if text else []
        return self._lengths[path]


def _within(line: int, column: int, lengths: list[int]) -> tuple[int, int]:
    """The nearest position; one may stand right behind the end of a line."""
    if line < 1:
        return 1, 1
    if not lengths:
        return line, max(1, column)
    if line > len(lengths):
        return len(lengths), lengths[-1] + 1
    return line, min(max(1, column), lengths[line - 1] + 1)
