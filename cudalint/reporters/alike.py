"""Findings that say the same of neighbouring lines, as of the four channels of a pixel, for readers of text."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Related
from cudalint.numerals import count


def together(diagnostics: Iterable[Diagnostic]) -> list[list[Diagnostic]]:
    """Those that stand on one line or the next and differ in their place only, in the order of the first of each."""
    groups: list[list[Diagnostic]] = []
    latest: dict[Hashable, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        key = _all_but_place(diagnostic)
        group = latest.get(key)
        if group is None or diagnostic.place.line > group[-1].place.end_line + 1:
            group = latest[key] = []
            groups.append(group)
        group.append(diagnostic)
    return groups


def _all_but_place(diagnostic: Diagnostic) -> Hashable:
    d = diagnostic
    variants = tuple((_all_but_place(variant), variant.place == d.place) for variant in d.variants)
    launches = tuple((launch.block, launch.grid, launch.path, launch.line) for launch in d.launches)
    way_out = (d.suggestion.message, d.suggestion.edits) if d.suggestion is not None else None
    what = (d.code, d.severity, d.place.path, d.kernel, d.instantiation, d.message)
    return what, launches, d.assumptions, d.related, way_out, variants


def as_one(group: Sequence[Diagnostic]) -> Diagnostic:
    """The first of a group, with the places of the others."""
    first, *others = group
    same = tuple(Related(other.place, "the same") for other in others)
    return replace(first, related=(*same, *first.related))


def note(group: Sequence[Diagnostic]) -> Iterator[tuple[str, str]]:
    """`also: the same at 3 more places, up to line 19`, where there are others."""
    if len(group) > 1:
        first, last = group[0].place.line, group[-1].place.line
        where = f", up to line {last}" if last != first else " on this line"
        yield "also", f"the same at {count(len(group) - 1, 'more place', 'more places')}{where}"
