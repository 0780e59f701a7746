"""The lines of source that a kernel's section shows, with what each takes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from markupsafe import Markup

from cudalint.facts import Place
from cudalint.hardware.cost.by_line import Line, Share
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats.html.prose import code
from cudalint.report.formats.html.views import Code, Row

_WHOLE = 120
"""Lines of a kernel that are shown whatever stands in them."""
_AROUND = 4
"""Lines around what is of interest in a longer one."""
_AROUND_OTHERS = 2
_MOST_OTHERS = 40
"""Lines of interest of what a kernel calls; those of which there is most to say."""
_LONGEST = 240
"""Characters of a line."""


def codes_of(
    kernel: Place, wanted: Mapping[Line, float], shares: Mapping[Line, Share], sources: SourceLines, anchor: str
) -> list[Code]:
    """The kernel's lines, then those of other places. `wanted` are the lines that are of interest, with how much."""
    inside = {line for path, line in wanted if path == kernel.path and kernel.line <= line <= kernel.end_line}
    count = kernel.end_line - kernel.line + 1
    if count <= _WHOLE:
        own: Collection[int] = range(kernel.line, kernel.end_line + 1)
    else:
        near = {near for line in inside for near in range(line - _AROUND, line + _AROUND + 1)}
        ends = {*range(kernel.line, kernel.line + _AROUND + 1), kernel.end_line}
        own = {line for line in near | ends if kernel.line <= line <= kernel.end_line}
    by_path: dict[str, set[int]] = {kernel.path: set(own)}
    others = [line for line in wanted if line[0] != kernel.path or line[1] not in inside]
    for path, line in sorted(others, key=lambda each: -wanted[each])[:_MOST_OTHERS]:
        by_path.setdefault(path, set()).update(range(line - _AROUND_OTHERS, line + _AROUND_OTHERS + 1))
    return [
        Code(path, rows)
        for number, (path, lines) in enumerate(by_path.items())
        if (rows := list(_rows(path, sorted(lines), shares, sources, f"{anchor}-{number}" if number else anchor)))
    ]


def _rows(
    path: str, numbers: Sequence[int], shares: Mapping[Line, Share], sources: SourceLines, anchor: str
) -> Iterator[Row]:
    before = 0
    for number in numbers:
        line = sources.line(path, number)
        if line is None:
            continue
        if before and number > before + 1:
            yield Row(0, "", Markup(""))
        before = number
        share = shares.get((path, number), Share(0.0, 0.0))
        yield Row(number, f"{anchor}-L{number}", code(line[:_LONGEST]), share.traffic, share.time)
