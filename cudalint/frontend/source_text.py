"""The text of a file: as an editor holds it, else as it is on disk."""

from __future__ import annotations

from msgspec import Struct, field

from cudalint.facts import Place
from cudalint.options.analysis import AnalysisOptions
from cudalint.source.lines import Lines
from cudalint.system.disk.encoding import to_bytes
from cudalint.system.disk.regular import read_regular_text
from cudalint.toolchain.toolkit import line_table


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
    _lines: dict[str, Lines[bytes]] = field(default_factory=dict)

    def compiled_at(self, place: Place) -> tuple[int, int] | None:
        """Where the compiler notes an access over several lines."""
        if place.line == place.end_line:
            return None
        line, column = line_table.compiled_at(self._text(place.path), place)
        return line, column

    def of(self, place: Place) -> str:
        """On one line; empty for a file that is gone."""
        return " ".join(b" ".join(self.lines_of(place)).decode("utf-8", "replace").split())

    def lines_of(self, place: Place) -> list[bytes]:
        """As it stands there, line by line; an empty one for a file that is gone."""
        if place.path not in self._lines:
            self._lines[place.path] = Lines(to_bytes(self._text(place.path)))
        lines = self._lines[place.path]
        begin, end = lines.offset(place.line, place.column), lines.offset(place.end_line, place.end_column)
        return lines.text[begin:end].split(b"\n")

    def _text(self, path: str) -> str:
        if path not in self._texts:
            self._texts[path] = source_text(path, self.options)
        return self._texts[path]
