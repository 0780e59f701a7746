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
    try:
        return list(render(result)), ()
    except OSError:
        raise
    except Exception as error:
        reason = described(error)
    empty = replace(result, diagnostics=(), suppressed=())
    if result.kernels and not _is_writable(render, empty) and _is_writable(render, replace(empty, kernels=())):
        lines, others = lines_of(render, replace(result, kernels=()), name)
        return lines, (Failure(name, f"kernels are left out: {reason}"), *others)
    kept, failures = _writable(render, result) if _is_writable(render, empty) else (result, ())
    if not failures:
        # It is no single finding.
        return [], (Failure(name, f"the report can't be made: {reason}"),)
    rest = replace(kept, failures=(*kept.failures, *failures))
    lines, others = lines_of(render, rest, name)
    return lines, (*failures, *others)


def _is_writable(render: Render, result: CheckResult) -> bool:
    try:
        for _ in render(result):
            pass
    except OSError:
        raise
    except Exception:
        return False
    return True


def _writable(render: Render, result: CheckResult) -> tuple[CheckResult, tuple[Failure, ...]]:
    """The result without the findings that can't be written by themselves."""
    alone = replace(result, diagnostics=(), suppressed=(), failures=(), kernels=())
    failures: list[Failure] = []

    def kept(diagnostics: Sequence[Diagnostic], as_result: Callable[[Diagnostic], CheckResult]) -> list[Diagnostic]:
        found = []
        for diagnostic in diagnostics:
            try:
                for _ in render(as_result(diagnostic)):
                    pass
            except OSError:
                raise
            except Exception as error:
                where = f"{diagnostic.code} at line {diagnostic.place.line}"
                failures.append(Failure(diagnostic.place.path, f"{where} is left out: {described(error)}"))
            else:
                found.append(diagnostic)
        return found

    diagnostics = kept(result.diagnostics, lambda diagnostic: replace(alone, diagnostics=(diagnostic,)))
    suppressed = kept(result.suppressed, lambda diagnostic: replace(alone, suppressed=(diagnostic,)))
    return replace(result, diagnostics=tuple(diagnostics), suppressed=tuple(suppressed)), tuple(failures)
