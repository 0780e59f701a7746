"""Lints a piece of source text with one rule, without a file."""

from __future__ import annotations

from cudalint.diagnostics import Diagnostic
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob


def lint(source: str, code: str, path: str = "a.cu") -> tuple[Diagnostic, ...]:
    """What one rule says about the source, in the order of the source; pictures are kept."""
    options = AnalysisOptions(unsaved=((path, source),))
    report = check_file(CheckJob(path, options, Selection((code,)), pictures=True))
    assert isinstance(report, FileReport), report
    return tuple(sorted(report.diagnostics, key=lambda d: d.place))


def advice(diagnostic: Diagnostic) -> str:
    assert diagnostic.suggestion is not None, diagnostic.message
    return diagnostic.suggestion.message
