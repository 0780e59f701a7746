"""Text and source for a page: prose with code in its backticks, the lines that a kernel's section shows with what each
takes, and what edits change as a diff. All is escaped, and has nothing in it that can't be seen."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from markupsafe import Markup, escape
from msgspec.structs import replace

from cudalint.diagnostics import Edit
from cudalint.facts import Place
from cudalint.fixes.edits import apply_edits
from cudalint.hardware.cost.by_line import Line, Share
from cudalint.regexes import regex
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import plain
from cudalint.report.formats.html.views import Code, DiffLine, Row
from cudalint.system.disk.encoding import to_bytes, to_text

_CODE: Final = regex(r"`([^`]*)`")
_LANGUAGE: Final = regex(
    r"(?P<c>//.*|/\*.*?(?:\*/|$))|(?P<s>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')|(?P<k>\b(?:if|else|for|while|do|return|"
    r"switch|case|break|continue|const|template|typename|struct|auto|void|int|unsigned|float|double|bool|char|long|short|"
    r"__global__|__device__|__shared__|__restrict__|__syncthreads|__syncwarp|extern|static|constexpr|using|inline)\b)"
)
_AROUND = 4
"""Lines around what is of interest in a kernel that is not shown whole."""
_AROUND_OTHERS = 2
_MOST_OTHERS = 40
"""Lines of interest of what a kernel calls; those of which there is most to say."""
_LONGEST = 240
"""Characters of a line."""
_AROUND_EDITS = 1
"""Lines of context."""
_MOST_EDITED = 60


def prose(text: str) -> Markup:
    """A message, with what stands between backticks as code."""
    parts, last = [], 0
    shown = plain.page(text)
    for match in _CODE.finditer(shown):
        parts += [escape(shown[last : match.start()]), Markup("<code>"), escape(match[1]), Markup("</code>")]
        last = match.end()
    return Markup("").join((*parts, escape(shown[last:])))


def code(line: bytes) -> Markup:
    """A line of source, with comments, literals and words of the language distinguished."""
    shown = plain.page(line.decode("utf-8", "replace")).rstrip()
    parts: list[Markup] = []
    last = 0
    for match in _LANGUAGE.finditer(shown):
        if match[0]:
            looks = Markup('<i class="{}">').format(match.lastgroup)
            parts += [escape(shown[last : match.start()]), looks, escape(match[0]), Markup("</i>")]
            last = match.end()
    return Markup("").join((*parts, escape(shown[last:])))


# --- lines of a kernel ----------------------------------------------------------------------------------------


def codes_of(
    kernel: Place,
    wanted: Mapping[Line, float],
    shares: Mapping[Line, Share],
    sources: SourceLines,
    anchor: str,
    whole: int,
) -> list[Code]:
    """The kernel's lines, then those of other places. `wanted` are the lines that are of interest, with how much; up to
    `whole` lines, all of a kernel are."""
    inside = {line for path, line in wanted if path == kernel.path and kernel.line <= line <= kernel.end_line}
    count = kernel.end_line - kernel.line + 1
    if count <= whole:
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


# --- edits ----------------------------------------------------------------------------------------------------


def diff_of(edits: Sequence[Edit], sources: SourceLines) -> Iterator[DiffLine]:
    """Every file that the edits change with the lines that change in it; none where a file is gone."""
    shown = list(_diff_lines(edits, sources))
    yield from shown[:_MOST_EDITED]
    if len(shown) > _MOST_EDITED:
        yield DiffLine("@", f"and {len(shown) - _MOST_EDITED} more lines")


def _diff_lines(edits: Sequence[Edit], sources: SourceLines) -> Iterator[DiffLine]:
    ordered = sorted(edits, key=lambda edit: edit.place)
    for path, group in groupby(ordered, key=lambda edit: edit.place.path):
        own = list(group)
        lines = sources.lines(path)
        first, last = own[0].place.line, max(edit.place.end_line for edit in own)
        if last > len(lines):
            continue
        start = max(0, first - 1 - _AROUND_EDITS)
        before = lines[start : last + _AROUND_EDITS]
        after = _edited(before, start, own)
        for line in difflib.unified_diff(_texts(before), _texts(after), n=_AROUND_EDITS, lineterm=""):
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
