"""GitLab's Code Quality report: the fields that docs.gitlab.com, "Code Quality report format", names."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from cudalint.diagnostics import Severity
from cudalint.report.findings.identity import fingerprints
from cudalint.report.findings.places import path_from, project_root
from cudalint.report.findings.results import CheckResult
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import wording
from cudalint.report.formats.diagnostics_json import JsonObject
from cudalint.report.formats.plain import json_text
from cudalint.report.formats.presentation import Presentation

_SEVERITIES: dict[Severity, str] = {"error": "critical", "warning": "major", "info": "info"}


def render(result: CheckResult, sources: SourceLines, shown: Presentation) -> Iterator[str]:
    relative = partial(path_from, project_root())
    marks = fingerprints(result.diagnostics, sources, relative)
    entries: list[JsonObject] = [
        {
            "description": f"{diagnostic.code}: {diagnostic.message}{wording.more_places(diagnostic)}",
            "check_name": diagnostic.name,
            "fingerprint": mark,
            "severity": _SEVERITIES[diagnostic.severity],
            "location": {
                "path": relative(diagnostic.place.path),
                "lines": {"begin": diagnostic.place.line, "end": diagnostic.place.end_line},
            },
        }
        for diagnostic, mark in zip(result.diagnostics, marks, strict=True)
    ]
    yield json_text(entries, indent=2)
