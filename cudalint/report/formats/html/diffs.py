"""What edits change, as lines of a diff."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from cudalint.diagnostics import Edit
from cudalint.fixes.edits import apply_edits
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats.html.views import DiffLine
from cudalint.system.disk.encoding import to_bytes, to_text

_AROUND = 1
"""Lines of context."""
_MOST_LINES = 60


def diff_of(edits: Sequence[Edit], sources: SourceLines) -> Iterator[DiffLine]:
    """Every file that the edits change with the lines that change in it; none where a file is gone."""
    shown = list(_lines(edits, sources))
    yield from shown[:_MOST_LINES]
    if len(shown) > _MOST_LINES:
        yield DiffLine("@", f"and {len(shown) - _MOST_LINES} more lines")


def _lines(edits: Sequence[Edit], sources: SourceLines) -> Iterator[DiffLine]:
    ordered = sorted(edits, key=lambda edit: edit.place)
    for path, group in groupby(ordered, key=lambda edit: edit.place.path):
        own = list(group)
        lines = sources.lines(path)
        first, last = own[0].place.line, max(edit.place.end_line for edit in own)
        if last > len(lines):
            continue
        start = max(0, first - 1 - _AROUND)
        before = lines[start : last + _AROUND]
        after = _edited(before, start, own)
        for line in difflib.unified_diff(_texts(before), _texts(after), n=_AROUND, lineterm=""):
            if line.startswith(("---", "+++")):
                continue
            if line.startswith("@@"):
                number = start + int(line.split("-")[1].split(",")[0].split()[0])
                yield DiffLine("@", f"{path}:{number}")
            else:
                yield DiffLine(line[0], line[1:])


def _texts(lines: Sequence[bytes]) -> list[str]:
    return [line.decode("utf-8", "replace") for line in lines]


def _edited(lines: Sequence[bytes], start: int, edits: Sequence[Edit]) -> list[bytes]:
    """Some lines of a file, of which `start` come before, with edits made that lie in them."""
    moved = [
        replace(e, place=e.place._replace(line=e.place.line - start, end_line=e.place.end_line - start)) for e in edits
    ]
    return to_bytes(apply_edits(to_text(b"\n".join(lines)), moved)).split(b"\n")
