"""One line per finding, which editors and `grep` understand: `path:line:column: CL201 message`.

What several kernels meet in a function that all of them call is one finding here, as no kernel is named.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic
from cudalint.reporters.style import Style
from cudalint.results import CheckResult


def render(result: CheckResult, style: Style) -> Iterator[str]:
    return iter(dict.fromkeys(_line(diagnostic, style) for diagnostic in result.diagnostics))


def _line(diagnostic: Diagnostic, style: Style) -> str:
    place = diagnostic.place
    code = style.rule(diagnostic.code, diagnostic.code, diagnostic.severity)
    return f"{style.paint(place.path, 'bold')}:{place.line}:{place.column}: {code} {diagnostic.message}"
