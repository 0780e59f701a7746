"""One finding for one cause. Findings of a rule are of one cause where

- they are about one kernel,
- they stand at one place: a line of a header or of a helper, which many kernels or instantiations come through,
- their rule says so: the fields of one struct, arrays that a function walks the same way, uses of one shared array,
  rows that one function of the host passes to several kernels,
- the same edits mend them,
- the worst of several kernels of one file are a habit of it: they go about the same in the same way,
- they stand in copies of one piece of code, as files have that were made from one another, or kernels that differ in
  numbers only, or
- their figures are the same and their statements have one shape in several files of a folder, as generated files have
  that differ in names and numbers.

The worst of them is reported, with the others behind it and its figures as ranges over all. This is the last step
before a report: annotations, baselines and fixes are about single places.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic
from cudalint.numerals import count, figure
from cudalint.report.findings.results import SEVERITIES, CheckResult, excess
from cudalint.report.findings.shapes import statement_shape, without_numbers
from cudalint.report.findings.sources import SourceLines

_AROUND = 3
"""Lines before and behind a place that a copy of it has too."""
_LEAST_COPIED = 80
"""Characters, without spaces, that tell a copy from what is written twice by chance."""
_SHARES = "_share"
"""The end of the names of figures that are shown as percentages."""
_ALMOST = 0.1
"""Figures that are closer than this part of the larger one are no range."""
_WHOLE = 10
"""From here on the ends of ranges have no decimals."""


def with_causes_merged(result: CheckResult, sources: SourceLines, shows_gaps: bool = False) -> CheckResult:
    """The findings of a run, one for each cause; those about gaps that nobody can close are among them where
    `shows_gaps` asks for them."""
    if shows_gaps:
        gaps = tuple(d for d in result.minor if d.held_back == "no-action")
        minor = tuple(d for d in result.minor if d.held_back != "no-action")
        result = replace(result, diagnostics=(*result.diagnostics, *gaps), minor=minor)
    merged = merged_by_cause(result.diagnostics, sources, shows_gaps)
    return replace(result, diagnostics=merged, known=merged_by_cause(result.known, sources))


def merged_by_cause(
    diagnostics: Sequence[Diagnostic], sources: SourceLines, shows_gaps: bool = False
) -> tuple[Diagnostic, ...]:
    """One finding for each cause, in the order of the first of each. Those with a headline (the gaps of a file) become
    that one line, unless `shows_gaps` asks for them."""
    groups = _Groups(len(diagnostics))
    for number, diagnostic in enumerate(diagnostics):
        for key in _keys(diagnostic, sources):
            groups.join(number, (diagnostic.code, key, number if diagnostic.headline and shows_gaps else None))
    for key, members in _by_shape(diagnostics, sources).items():
        if len({diagnostics[number].place.path for number in members}) > 1:
            for number in members:
                groups.join(number, key)
    return tuple(_merged(group, shows_gaps) for group in _by_habit([diagnostics[n] for n in group] for group in groups))


def _by_habit(groups: Iterable[Sequence[Diagnostic]]) -> Iterable[Sequence[Diagnostic]]:
    """The groups of which the worst findings are a habit of one file together."""
    found: dict[Hashable, list[Diagnostic]] = {}
    for number, group in enumerate(groups):
        worst = min(group, key=_order)
        key = (worst.code, worst.place.path, worst.habit) if worst.habit else number
        found.setdefault(key, []).extend(group)
    return found.values()


def of_one_cause(diagnostics: Sequence[Diagnostic]) -> Iterator[list[int]]:
    """The positions of those of one cause, but for copies of one piece of code."""
    groups = _Groups(len(diagnostics))
    for number, diagnostic in enumerate(diagnostics):
        for key in _keys_of_places(diagnostic):
            groups.join(number, (diagnostic.code, key))
    yield from groups


class _Groups:
    """Numbers from 0 on, joined by what they have in common."""

    def __init__(self, size: int) -> None:
        self._parents = list(range(size))
        self._first: dict[Hashable, int] = {}

    def join(self, number: int, key: Hashable) -> None:
        one, other = self._root(self._first.setdefault(key, number)), self._root(number)
        self._parents[max(one, other)] = min(one, other)

    def _root(self, number: int) -> int:
        while self._parents[number] != number:
            self._parents[number] = number = self._parents[self._parents[number]]
        return number

    def __iter__(self) -> Iterator[list[int]]:
        members: dict[int, list[int]] = {}
        for number in range(len(self._parents)):
            members.setdefault(self._root(number), []).append(number)
        return iter(members.values())


def _keys(diagnostic: Diagnostic, sources: SourceLines) -> Iterator[Hashable]:
    d = diagnostic
    yield from _keys_of_places(d)
    if d.kernel and not d.headline:
        text = _text_around(d, sources)
        if len(text) >= _LEAST_COPIED:
            yield "copy", without_numbers(d.kernel), without_numbers(text)


def _keys_of_places(diagnostic: Diagnostic) -> Iterator[Hashable]:
    d = diagnostic
    yield from (("cause", cause) for cause in d.causes)
    if d.headline:
        return
    yield "place", d.place, "" if d.kernel else d.message
    if d.kernel:
        yield "kernel", d.place.path, d.kernel, d.severity
    if d.suggestion is not None and d.suggestion.edits:
        yield "edits", d.suggestion.edits


def _by_shape(diagnostics: Sequence[Diagnostic], sources: SourceLines) -> Mapping[Hashable, Sequence[int]]:
    """The findings in kernels by folder, figures and the shape of the statement they are about."""
    found: dict[Hashable, list[int]] = {}
    for number, d in enumerate(diagnostics):
        shape = statement_shape(d.place, sources) if d.kernel and d.figures and not d.headline else None
        if shape is not None:
            figures = tuple(sorted((name, figure(value)) for name, value in d.figures.items()))
            found.setdefault(("shape", d.code, os.path.dirname(d.place.path), figures, shape), []).append(number)
    return found


def _text_around(diagnostic: Diagnostic, sources: SourceLines) -> str:
    place = diagnostic.place
    lines = range(max(1, place.line - _AROUND), place.end_line + _AROUND + 1)
    text = b" ".join(sources.line(place.path, number) or b"" for number in lines)
    return "".join(text.decode("utf-8", "replace").split())


def _merged(group: Sequence[Diagnostic], shows_gaps: bool) -> Diagnostic:
    first = min(group, key=_order)
    if not first.headline or shows_gaps:
        return _as_one(group)
    others = len({each.causes[:1] for each in group}) - 1
    same = f"; the same in {count(others, 'more file')}" if others else ""
    message = f"{first.headline}{same} (all reasons: --show-gaps)"
    merged = replace(first, message=message, is_headline=True, also=tuple(group), kernel="", instantiation="")
    return replace(merged, suggestion=None, assumptions=(), launches=(), figures={}, variants=(), related=())


def _as_one(group: Sequence[Diagnostic]) -> Diagnostic:
    worst = min(group, key=_order)
    others = tuple(each for each in group if each is not worst)
    merged = (each.instantiation for each in others)
    without = tuple(each for each in worst.not_in if each not in set(merged))
    return replace(worst, message=_ranged(worst, others), also=others, not_in=without)


def _order(diagnostic: Diagnostic) -> tuple[float, ...]:
    """What costs most is reported first; of what costs the same, one that comes with a remedy, and the first of the
    source."""
    of_program, share, traffic = diagnostic.cost.weight if diagnostic.cost is not None else (0.0, 0.0, 0.0)
    by_severity = SEVERITIES.index(diagnostic.severity)
    return by_severity, -of_program, -share, -traffic, diagnostic.suggestion is None, -excess(diagnostic)


def _ranged(worst: Diagnostic, others: Iterable[Diagnostic]) -> str:
    """The message, with the figures of all of them: `8 to 32 sectors per request`."""
    everything = [each for one in (worst, *others) for each in (one, *one.variants)]
    if len(everything) == 1 or not worst.worded:
        return worst.message
    message = worst.worded
    for name in worst.figures:
        values = [each.figures[name] for each in everything if name in each.figures]
        message = message.replace(f"{{{name}}}", _range(min(values), max(values), name.endswith(_SHARES)))
    return message


def _range(least: float, most: float, is_share: bool) -> str:
    if most - least <= _ALMOST * abs(most):
        return f"{most:.0%}" if is_share else figure(most)
    return f"{least:.0%} to {most:.0%}" if is_share else f"{_end(least)} to {_end(most)}"


def _end(value: float) -> str:
    return f"{value:.0f}" if value >= _WHOLE else figure(round(value, 1))


def everything_in(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Findings, each followed by all that it stands for."""
    for diagnostic in diagnostics:
        yield diagnostic
        yield from diagnostic.also
