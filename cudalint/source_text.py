"""The text of a file: as an editor holds it, else as it is on disk."""

from __future__ import annotations

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
