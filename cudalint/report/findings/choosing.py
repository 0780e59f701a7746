"""Which edits are made in one pass: each distinct set once, and of those that meet the one that brings most."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

from msgspec import Struct

from cudalint.diagnostics import Diagnostic, Edit, Suggestion
from cudalint.report.findings.results import SEVERITIES

Resolve = Callable[[str], str]
"""The path that identifies a file, whatever it is called."""


class Fix(Struct, frozen=True, eq=False):
    """One distinct set of edits, and the findings that suggest it, the worst one first."""

    edits: tuple[Edit, ...]
    findings: tuple[Diagnostic, ...]

    @property
    def suggestion(self) -> Suggestion:
        suggestion = self.findings[0].suggestion
        assert suggestion is not None
        return suggestion

    @property
    def is_safe(self) -> bool:
        return all(d.suggestion is not None and d.suggestion.applicability == "safe" for d in self.findings)


def distinct_fixes(diagnostics: Iterable[Diagnostic]) -> list[Fix]:
    """The fixes that findings suggest, those first that bring most."""
    by_edits: dict[tuple[Edit, ...], list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        if diagnostic.suggestion is not None and diagnostic.suggestion.edits:
            by_edits.setdefault(diagnostic.suggestion.edits, []).append(diagnostic)
    fixes = [Fix(edits, tuple(sorted(found, key=_rank))) for edits, found in by_edits.items()]
    return sorted(fixes, key=lambda fix: (*_rank(fix.findings[0]), -len(fix.findings), fix.findings[0].place))


def _rank(diagnostic: Diagnostic) -> tuple[float, ...]:
    """Errors before warnings before infos; then what is wrong before what takes time, as a cure of that may leave no
    place for a guard; then what makes its kernel faster; then what takes more of its figure."""
    cost, suggestion = diagnostic.cost, diagnostic.suggestion
    speedup = cost.speedup if cost is not None and cost.speedup is not None else 1.0
    before, after = (suggestion.before, suggestion.after) if suggestion is not None else ({}, {})
    drop = max((old / max(after[name], 1e-9) for name, old in before.items() if name in after), default=1.0)
    return SEVERITIES.index(diagnostic.severity), cost is not None or bool(before), -speedup, -drop


def disjoint(fixes: Iterable[Fix], resolve: Resolve) -> list[Fix]:
    """The fixes that touch no text of one before them. What two of them share is made with the first one, and whether
    the other is still wanted is seen in the next pass."""
    chosen: list[Fix] = []
    for fix in fixes:
        if not any(meet(fix.edits, other.edits, resolve) for other in chosen):
            chosen.append(fix)
    return chosen


def meet(some: Sequence[Edit], others: Sequence[Edit], resolve: Resolve) -> bool:
    """Whether edits change the same text or touch: what is put in at one place by two has no order."""
    return any(_touch(a, b) and resolve(a.place.path) == resolve(b.place.path) for a in some for b in others)


def _touch(one: Edit, other: Edit) -> bool:
    a, b = one.place, other.place
    return (a.line, a.column) <= (b.end_line, b.end_column) and (b.line, b.column) <= (a.end_line, a.end_column)


def paths_of(edits: Iterable[Edit], resolve: Resolve) -> Collection[str]:
    """The files that edits change."""
    return {resolve(edit.place.path) for edit in edits}
