"""Reports of which each finding is made so that it can fail alone.

A report is one text, and what can't be written in it, such as a finding at a place that no text has, would cost all of
it. So where a report can't be made, each finding is tried by itself, and those at fault are left out and named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from cudalint.diagnostics import Diagnostic
from cudalint.report.findings.results import CheckResult, Failure
from cudalint.system.processes.faults import described

Render = Callable[[CheckResult], Iterable[str]]


def lines_of(render: Render, result: CheckResult, name: str) -> tuple[list[str], tuple[Failure, ...]]:
    """The lines of a report, and what could not be written in it. `name` is what the user knows the report by."""
    made = _made(render, result)
    if isinstance(made, list):
        return made, ()
    empty = replace(result, diagnostics=(), suppressed=())
    if result.kernels and _fault(render, empty) and not _fault(render, replace(empty, kernels=())):
        lines, others = lines_of(render, replace(result, kernels=()), name)
        return lines, (Failure(name, f"kernels are left out: {made}"), *others)
    kept, failures = (result, ()) if _fault(render, empty) else _writable(render, result)
    if not failures:
        # It is no single finding.
        return [], (Failure(name, f"the report can't be made: {made}"),)
    rest = replace(kept, failures=(*kept.failures, *failures))
    lines, others = lines_of(render, rest, name)
    return lines, (*failures, *others)


def _made(render: Render, result: CheckResult) -> list[str] | str:
    """The lines of a report, or what goes wrong with it."""
    try:
        return list(render(result))
    except OSError:
        raise
    except Exception as error:
        return described(error)


def _fault(render: Render, result: CheckResult) -> str:
    """What goes wrong with a report; empty where nothing does."""
    made = _made(render, result)
    return made if isinstance(made, str) else ""


def _writable(render: Render, result: CheckResult) -> tuple[CheckResult, tuple[Failure, ...]]:
    """The result without the findings that can't be written by themselves."""
    alone = replace(result, diagnostics=(), suppressed=(), failures=(), kernels=())
    failures: list[Failure] = []

    def kept(diagnostics: Sequence[Diagnostic], as_result: Callable[[Diagnostic], CheckResult]) -> list[Diagnostic]:
        faults = [(diagnostic, _fault(render, as_result(diagnostic))) for diagnostic in diagnostics]
        for each, fault in faults:
            if fault:
                failures.append(Failure(each.place.path, f"{each.code} at line {each.place.line} is left out: {fault}"))
        return [diagnostic for diagnostic, fault in faults if not fault]

    diagnostics = kept(result.diagnostics, lambda diagnostic: replace(alone, diagnostics=(diagnostic,)))
    suppressed = kept(result.suppressed, lambda diagnostic: replace(alone, suppressed=(diagnostic,)))
    return replace(result, diagnostics=tuple(diagnostics), suppressed=tuple(suppressed)), tuple(failures)
