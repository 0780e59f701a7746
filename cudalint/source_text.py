"""The text of a file: as an editor holds it, else as it is on disk."""

from __future__ import annotations

from msgspec import Struct, field

from cudalint.facts import Place
from cudalint.options import AnalysisOptions


def source_text(path: str, options: AnalysisOptions) -> str:
    """Empty for a file that is gone. Bytes that are not UTF-8 and line ends stay what they are, so that columns count
    the same bytes."""
    text = dict(options.unsaved).get(path)
    if text is not None:
        return text
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except OSError:
        return ""


class Spellings(Struct):
    """What stands at places of the source. Each file is read once."""

    options: AnalysisOptions
    _lines: dict[str, list[bytes]] = field(default_factory=dict)

    def of(self, place: Place) -> str:
        """On one line; empty for a file that is gone."""
        if place.path not in self._lines:
            text = source_text(place.path, self.options).encode("utf-8", "surrogateescape")
            self._lines[place.path] = text.split(b"\n")
        lines = self._lines[place.path][place.line - 1 : place.end_line]
        if not lines:
            return ""
        lines[-1] = lines[-1][: place.end_column - 1]
        lines[0] = lines[0][place.column - 1 :]
        return " ".join(b" ".join(lines).decode("utf-8", "replace").split())


__all__ = ["Spellings", "source_text"]
