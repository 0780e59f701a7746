"""Findings that readers of text are told together: the same of neighbouring lines, as of the four channels of a pixel,
what has one cause in a kernel, what several kernels meet in a function that all of them call, and launches of a file
with the same block."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Related
from cudalint.numerals import count

_MOST_LINES = 6
_MOST_KERNELS = 3
_MOST_ARRAYS = 3


class Group(Struct):
    findings: list[Diagnostic]
    """Of one kernel, or of launches, in the order of the source."""
    kernels: list[str] = field(default_factory=list)
    """Other kernels that meet the same in the same places."""


def together(diagnostics: Iterable[Diagnostic]) -> list[Group]:
    """Those that stand on one line or the next and differ in their place only, and those of a kernel that have one
    cause, in the order of the first of each."""
    groups: list[Group] = []
    latest: dict[Hashable, Group] = {}
    for diagnostic, kernels in _across_kernels(diagnostics):
        key = (_common(diagnostic), *kernels)
        group = latest.get(key)
        if group is None or not (_is_far(diagnostic) or _follows(group.findings[-1], diagnostic)):
            group = latest[key] = Group([], kernels)
            groups.append(group)
        group.findings.append(diagnostic)
    return groups


def _across_kernels(diagnostics: Iterable[Diagnostic]) -> Iterable[tuple[Diagnostic, list[str]]]:
    """Each finding once for each place and message, with the other kernels that it is about too."""
    met: dict[Hashable, tuple[Diagnostic, list[str]]] = {}
    for diagnostic in diagnostics:
        kernel = diagnostic.instantiation or diagnostic.kernel
        key: Hashable = (diagnostic.code, diagnostic.place, diagnostic.message, _way_out(diagnostic))
        first, others = met.setdefault(key, (diagnostic, []))
        if first is diagnostic:
            continue
        if kernel in (first.instantiation or first.kernel, *others):
            met[diagnostic] = (diagnostic, [])  # Of another launch.
        else:
            others.append(kernel)
    return met.values()


def _is_far(diagnostic: Diagnostic) -> bool:
    return bool(diagnostic.cause or diagnostic.of_launches)


def _follows(last: Diagnostic, diagnostic: Diagnostic) -> bool:
    return diagnostic.place.line <= last.place.end_line + 1


def _common(diagnostic: Diagnostic) -> Hashable:
    """What those of a group have in common."""
    if diagnostic.of_launches:
        d = diagnostic
        return d.code, d.severity, d.place.path, d.of_launches, tuple(variant.of_launches for variant in d.variants)
    if diagnostic.cause:
        suggestion = diagnostic.suggestion
        return _in_kernel(diagnostic), suggestion.edits if suggestion is not None else None, _of_causes(diagnostic)
    return _all_but_place(diagnostic)


def _in_kernel(diagnostic: Diagnostic) -> Hashable:
    d = diagnostic
    launches = tuple((launch.block, launch.grid, launch.path, launch.line) for launch in d.launches)
    return d.code, d.severity, d.place.path, d.kernel, d.instantiation, launches, d.assumptions, d.cause


def _all_but_place(diagnostic: Diagnostic) -> Hashable:
    d = diagnostic
    return _in_kernel(d), d.message, d.related, _way_out(d), _of_variants(d)


def _way_out(diagnostic: Diagnostic) -> Hashable:
    suggestion = diagnostic.suggestion
    return (suggestion.message, suggestion.edits) if suggestion is not None else None


def _of_variants(diagnostic: Diagnostic) -> Hashable:
    return tuple((_all_but_place(variant), variant.place == diagnostic.place) for variant in diagnostic.variants)


def _of_causes(diagnostic: Diagnostic) -> Hashable:
    return tuple(_common(variant) for variant in diagnostic.variants)


def as_one(group: Group) -> Diagnostic:
    """The first of a group, with the places of the others; of those with one cause, of its neighbours only."""
    first, *others = group.findings
    related = list(first.related)
    for other in _neighbours(group.findings) if first.cause or first.of_launches else others:
        known = () if first.cause else other.related
        related += (Related(other.place, "the same"), *(place for place in known if place not in related))
    return replace(first, related=tuple(related))


def _neighbours(findings: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """Those on the lines that follow the first."""
    for last, diagnostic in itertools.pairwise(findings):
        if not _follows(last, diagnostic):
            return
        yield diagnostic


def notes(group: Group) -> Iterator[tuple[str, str]]:
    """`also: the same at 3 more places, up to line 19`, where there are others."""
    first, *others = group.findings
    if others:
        yield "also", _about_places(first, others)
    if group.kernels:
        named = ", ".join(group.kernels[:_MOST_KERNELS])
        more = len(group.kernels) - _MOST_KERNELS
        named += f" and {count(more, 'more kernel')}" if more > 0 else ""
        yield "also", f"the same in {named}"


def _about_places(first: Diagnostic, others: Sequence[Diagnostic]) -> str:
    same = f"the same at {count(len(others), 'more place', 'more places')}{_also_of_arrays(first, others)}"
    if all(_follows(last, other) for last, other in itertools.pairwise([first, *others])):
        last = others[-1].place.line
        return same + (f", up to line {last}" if last != first.place.line else " on this line")
    lines = _lines(others)
    listed = ", ".join(lines[:_MOST_LINES]) + (", ..." if len(lines) > _MOST_LINES else "")
    return f"{same}, at {'lines' if len(lines) > 1 else 'line'} {listed}"


def _also_of_arrays(first: Diagnostic, others: Sequence[Diagnostic]) -> str:
    arrays = [f"`{array}`" for array in dict.fromkeys(other.about for other in others) if array != first.about]
    if not arrays:
        return ""
    more = len(arrays) - _MOST_ARRAYS
    return f", also of {', '.join(arrays[:_MOST_ARRAYS])}" + (f" and {count(more, 'more array')}" if more > 0 else "")


def _lines(findings: Iterable[Diagnostic]) -> list[str]:
    return list(dict.fromkeys(str(finding.place.line) for finding in findings))
