"""Findings before and after edits: which of them are the same, and which are new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from cudalint.diagnostics import Diagnostic
from cudalint.facts import Place
from cudalint.fixes.edits import Correspondence


def identity(diagnostic: Diagnostic, spot: Callable[[Place], tuple[str, int, int]]) -> tuple[object, ...]:
    """What stays the same of a finding; `spot` is the place in terms of both texts."""
    return diagnostic.code, diagnostic.kernel, diagnostic.instantiation, spot(diagnostic.place)


def new_findings(
    before: Iterable[Diagnostic],
    after: Sequence[Diagnostic],
    same: Correspondence,
    is_no_news: Callable[[Diagnostic], bool] = lambda diagnostic: False,
) -> set[tuple[str, str]]:
    """Kernels and instantiations in which there are findings that were not there before."""
    old = Counter(identity(diagnostic, same.before) for diagnostic in before)
    new = Counter(identity(diagnostic, same.after) for diagnostic in after)
    reported = [diagnostic for diagnostic in after if not is_no_news(diagnostic)]
    return {(d.kernel, d.instantiation) for d in reported if new[key := identity(d, same.after)] > old[key]}
