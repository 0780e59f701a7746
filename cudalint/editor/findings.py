"""Findings as an editor shows them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from lsprotocol.types import (
    CodeDescription,
    DiagnosticRelatedInformation,
    DiagnosticSeverity,
    DiagnosticTag,
    Location,
    Position,
    Range,
)
from lsprotocol.types import Diagnostic as Shown

from cudalint.diagnostics import Diagnostic, Severity
from cudalint.editor.documents import Document
from cudalint.editor.positions import Positions
from cudalint.facts import Place
from cudalint.report.findings.results import Failure, FileReport
from cudalint.report.formats import wording
from cudalint.report.formats.pages import page_of

SOURCE = "cudalint"
_SEVERITIES: dict[Severity, DiagnosticSeverity] = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "info": DiagnosticSeverity.Information,
}
_UNNECESSARY = frozenset({"CL303", "CL901"})
"""Rules whose findings are about what may go, which editors show faintly."""


def everywhere(diagnostics: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """Findings of one cause at each of their places: in an editor nobody looks for those that a report has named at
    the first. A headline is reported once."""
    for diagnostic in diagnostics:
        yield diagnostic
        if not diagnostic.is_headline:
            seen = {diagnostic.place}
            for other in diagnostic.also:
                if other.place not in seen:
                    seen.add(other.place)
                    yield other


def shown(diagnostic: Diagnostic, positions: Positions) -> Shown:
    lines = [diagnostic.message, *wording.explanation(diagnostic)]
    page = page_of(diagnostic.code)
    return Shown(
        range=positions.range_of(diagnostic.place),
        message="\n".join(lines),
        severity=_SEVERITIES[diagnostic.severity],
        code=diagnostic.code,
        code_description=CodeDescription(page) if page else None,
        source=SOURCE,
        tags=[DiagnosticTag.Unnecessary] if diagnostic.code in _UNNECESSARY else None,
        related_information=[
            DiagnosticRelatedInformation(location(related.place, positions), related.message)
            for related in diagnostic.related
        ],
    )


def remarks(document: Document) -> list[Shown]:
    """What is to be said of the file as a whole: why it could not be linted, what could not be done, a note."""
    report = document.analysed.report if document.analysed is not None else None
    if report is None:
        return []
    failures = [report.message] if isinstance(report, Failure) else [each.message for each in report.failures]
    failures += [f"{path}: {reason}" for path, reason in document.unusable]
    notes = [report.note] if isinstance(report, FileReport) and report.note else []
    severity = DiagnosticSeverity
    return [
        Shown(range=Range(Position(0, 0), Position(0, 0)), message=message, severity=kind, source=SOURCE)
        for kind, messages in ((severity.Warning, failures), (severity.Hint, notes))
        for message in messages
    ]


def location(place: Place, positions: Positions) -> Location:
    return Location(uri_of(place.path), positions.range_of(place))


def uri_of(path: str) -> str:
    return Path(os.path.abspath(path)).as_uri()
