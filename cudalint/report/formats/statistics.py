"""How often each rule found something and what that costs: what costs most first, or the most frequent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from cudalint.diagnostics import Diagnostic, Severity
from cudalint.numerals import count
from cudalint.report.findings.results import CheckResult
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import costs, wording
from cudalint.report.formats.presentation import Presentation, Rank, by_cost, rank


def render(result: CheckResult, sources: SourceLines, shown: Presentation) -> Iterator[str]:
    findings = Counter((d.code, d.name, d.severity) for d in result.diagnostics)
    kernels = Counter(code for code, *_ in {(d.code, d.place.path, d.kernel) for d in result.diagnostics})
    files = Counter(code for code, _ in {(d.code, d.place.path) for d in result.diagnostics})
    width = len(str(max(findings.values(), default=0)))
    names = max((len(name) for _, name, _ in findings), default=0)
    most = {code: _most(d for d in result.diagnostics if d.code == code) for code, *_ in findings}
    ranks: dict[tuple[str, str, Severity], Rank] = {}
    for diagnostic in by_cost(result.diagnostics) if shown.order == "cost" else ():
        ranks.setdefault((diagnostic.code, diagnostic.name, diagnostic.severity), rank(diagnostic))
    rows = sorted(findings.items(), key=lambda item: (ranks.get(item[0], ()), -item[1], item[0]))
    for (code, name, severity), number in rows:
        where = f"{count(kernels[code], 'kernel')} of {count(files[code], 'file')}{most[code]}"
        yield f"{number:>{width}}  {shown.style.rule(code, code, severity)}  {name:<{names}}  in {where}"
    if not shown.quiet:
        if findings:
            yield ""
        yield from costs.minor(result)
        yield wording.last_line(result)


def _most(findings: Iterable[Diagnostic]) -> str:
    """`, up to 45% of a kernel's time`, where that is known of any."""
    known = [d.cost.share for d in findings if d.cost is not None and d.cost.share is not None]
    return f", up to {costs.share(max(known))} of a kernel's time" if known else ""
