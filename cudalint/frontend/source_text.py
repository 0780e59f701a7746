"""The text of a file: as an editor holds it, else as it is on disk."""

from __future__ import annotations

from msgspec import Struct, field

from cudalint.disk.encoding import to_bytes
from cudalint.disk.regular import read_regular_text
from cudalint.facts import Place
from cudalint.options.analysis import AnalysisOptions
from cudalint.toolkit import line_table


def source_text(path: str, options: AnalysisOptions) -> str:
    """Empty for a file that is gone. Bytes that are not UTF-8 and line ends stay what they are, so that columns count
    the same bytes."""
    text = dict(options.unsaved).get(path)
    if text is not None:
        return text
    try:
        return read_regular_text(path)
    except OSError:
        return ""


class Spellings(Struct):
    """What stands at places of the source. Each file is read once."""

    options: AnalysisOptions
    _texts: dict[str, str] = field(default_factory=dict)
    _lines: dict[str, list[bytes]] = field(default_factory=dict)

    def compiled_at(self, place: Place) -> tuple[int, int] | None:
        """Where the compiler notes an access over several lines."""
        return line_table.compiled_at(self._text(place.path), place) if place.line != place.end_line else None

    def of(self, place: Place) -> str:
        """On one line; empty for a file that is gone."""
        return " ".join(b" ".join(self.lines_of(place)).decode("utf-8", "replace").split())

    def lines_of(self, place: Place) -> list[bytes]:
        """As it stands there, line by line; none for a file that is gone."""
        if place.path not in self._lines:
            self._lines[place.path] = to_bytes(self._text(place.path)).split(b"\n")
        lines = self._lines[place.path][place.line - 1 : place.end_line]
        if lines:
            lines[-1] = lines[-1][: place.end_column - 1]
            lines[0] = lines[0][place.column - 1 :]
        return lines

    def _text(self, path: str) -> str:
        if path not in self._texts:
            self._texts[path] = source_text(path, self.options)
        return self._texts[path]
