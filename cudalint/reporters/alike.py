"""Findings that readers of text are told together: the same of neighbouring lines, as of the four channels of a pixel,
and what one condition on a kernel's arguments would end."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Related
from cudalint.numerals import count


def together(diagnostics: Iterable[Diagnostic]) -> list[list[Diagnostic]]:
    """Those that stand on one line or the next and differ in their place only, and those of a kernel that ask the same
    of its arguments, in the order of the first of each."""
    groups: list[list[Diagnostic]] = []
    latest: dict[Hashable, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        key = _in_kernel(diagnostic) if diagnostic.asks else _all_but_place(diagnostic)
        group = latest.get(key)
        if group is None or not (diagnostic.asks or diagnostic.place.line <= group[-1].place.end_line + 1):
            group = latest[key] = []
            groups.append(group)
        group.append(diagnostic)
    return groups


def _in_kernel(diagnostic: Diagnostic) -> Hashable:
    d = diagnostic
    launches = tuple((launch.block, launch.grid, launch.path, launch.line) for launch in d.launches)
    return d.code, d.severity, d.place.path, d.kernel, d.instantiation, launches, d.assumptions, d.asks


def _all_but_place(diagnostic: Diagnostic) -> Hashable:
    d = diagnostic
    variants = tuple((_all_but_place(variant), variant.place == d.place) for variant in d.variants)
    way_out = (d.suggestion.message, d.suggestion.edits) if d.suggestion is not None else None
    return _in_kernel(d), d.message, d.related, way_out, variants


def as_one(group: Sequence[Diagnostic]) -> Diagnostic:
    """The first of a group, with the places of the others."""
    first, *others = group
    label = "so does this" if first.asks else "the same"
    related = list(first.related)
    for other in others:
        related += (Related(other.place, label), *(known for known in other.related if known not in related))
    return replace(first, related=tuple(related))


def note(group: Sequence[Diagnostic]) -> Iterator[tuple[str, str]]:
    """`also: the same at 3 more places, up to line 19`, where there are others."""
    if len(group) < 2:
        return
    number, last = len(group) - 1, group[-1].place.line
    if group[0].asks:
        lines = ", ".join(str(line) for line in dict.fromkeys(other.place.line for other in group[1:]))
        yield "also", f"{count(number, 'more array asks', 'more arrays ask')} for `{group[0].asks}`, at line {lines}"
    else:
        where = f", up to line {last}" if last != group[0].place.line else " on this line"
        yield "also", f"the same at {count(number, 'more place', 'more places')}{where}"
