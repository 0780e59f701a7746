"""How often each rule found something, the most frequent first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cudalint.numerals import count
from cudalint.reporters import wording
from cudalint.reporters.style import Style
from cudalint.results import CheckResult


def render(result: CheckResult, style: Style, show_summary: bool) -> Iterator[str]:
    findings = Counter((d.code, d.name, d.severity) for d in result.diagnostics)
    kernels = Counter(code for code, *_ in {(d.code, d.place.path, d.kernel) for d in result.diagnostics})
    files = Counter(code for code, _ in {(d.code, d.place.path) for d in result.diagnostics})
    width = len(str(max(findings.values(), default=0)))
    names = max((len(name) for _, name, _ in findings), default=0)
    for (code, name, severity), number in sorted(findings.items(), key=lambda item: (-item[1], item[0])):
        where = f"{count(kernels[code], 'kernel')} of {count(files[code], 'file')}"
        yield f"{number:>{width}}  {style.rule(code, code, severity)}  {name:<{names}}  in {where}"
    if show_summary:
        if findings:
            yield ""
        yield wording.last_line(result)
