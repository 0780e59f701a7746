"""Places within their texts. Places come from clang, which has its own idea of where lines end and reads texts that
were mended, and from whatever was worked out from those. What leaves the analysis has passed here, so that nobody after
it has to ask whether there is a line."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic
from cudalint.facts import Place
from cudalint.source.lines import Extent, Lines
from cudalint.system.disk.encoding import to_bytes


class Bounds:
    """Where the lines of some texts end. Each text is asked for once; one that is gone is empty, and places in it are
    only seen to begin at 1."""

    def __init__(self, text_of: Callable[[str], str]) -> None:
        self._text_of = text_of
        self._lines: dict[str, Lines[bytes] | None] = {}

    def within(self, place: Place) -> Place:
        """The same place where it lies in its text; else the nearest one there, which may be empty."""
        lines = self._lines_of(place.path)
        extent = Extent(*place[1:])
        found = Place(place.path, *(lines.within(extent) if lines is not None else _from_1(extent)))
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

    def _lines_of(self, path: str) -> Lines[bytes] | None:
        if path not in self._lines:
            text = self._text_of(path)
            self._lines[path] = Lines(to_bytes(text)) if text else None
        return self._lines[path]


def _from_1(extent: Extent) -> Extent:
    start = max((1, 1), (extent.line, max(1, extent.column)))
    end = max(start, (extent.end_line, max(1, extent.end_column)))
    return Extent(*start, *end)
