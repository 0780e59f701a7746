"""One line per finding, which editors and `grep` understand, as compilers print it:
`path:line:column: warning: CL201 message (and at 3 more places)`.

No kernel is named, so that what is said of two is said once.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic
from cudalint.report.findings.results import CheckResult
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import wording
from cudalint.report.formats.presentation import Presentation
from cudalint.report.formats.style import Style


def render(result: CheckResult, sources: SourceLines, shown: Presentation) -> Iterator[str]:
    return iter(dict.fromkeys(_line(diagnostic, shown.style) for diagnostic in result.diagnostics))


def _line(diagnostic: Diagnostic, style: Style) -> str:
    place = diagnostic.place
    code = style.rule(diagnostic.code, diagnostic.code, diagnostic.severity)
    where = f"{style.paint(place.path, 'bold')}:{place.line}:{place.column}"
    severity = style.severity(f"{diagnostic.severity}:", diagnostic.severity)
    return f"{where}: {severity} {code} {diagnostic.message}{wording.more_places(diagnostic)}"
