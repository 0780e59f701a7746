"""One line per finding, which editors and `grep` understand: `path:line:column: CL201 message`."""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.reporters.style import Style
from cudalint.results import CheckResult


def render(result: CheckResult, style: Style) -> Iterator[str]:
    for diagnostic in result.diagnostics:
        place = diagnostic.place
        code = style.severity(diagnostic.code, diagnostic.severity)
        yield f"{style.paint(place.path, 'bold')}:{place.line}:{place.column}: {code} {diagnostic.message}"
