"""How bad findings are by a project's own judgement."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic, Severity
from cudalint.registry import matches
from cudalint.report.findings.results import FileReport


class Severities(Struct, frozen=True):
    """What the findings of some rules count as, whatever the rules say."""

    entries: tuple[tuple[str, Severity], ...] = ()
    """Selectors (codes, starts of codes, names, ALL). Of those that mean a rule the one that says most of it counts,
    and of two that say as much the last."""

    def of(self, code: str, name: str) -> Severity | None:
        fitting = [(_precision(selector, name), s) for selector, s in self.entries if matches(selector, code, name)]
        return max(reversed(fitting), key=lambda each: each[0])[1] if fitting else None

    def applied_to(self, report: FileReport) -> FileReport:
        """The report with its findings as bad as the project says."""
        if not self.entries:
            return report
        return replace(
            report,
            diagnostics=tuple(map(self.judged, report.diagnostics)),
            suppressed=tuple(map(self.judged, report.suppressed)),
            unused=tuple((allowed, self.judged(diagnostic)) for allowed, diagnostic in report.unused),
        )

    def judged(self, diagnostic: Diagnostic) -> Diagnostic:
        """The finding as bad as the project says."""
        severity = self.of(diagnostic.code, diagnostic.name)
        return diagnostic if severity is None else replace(diagnostic, severity=severity)


def _precision(selector: str, name: str) -> int:
    if selector.lower() == name:
        return len("CL201")
    return 0 if selector.upper() == "ALL" else len(selector)
