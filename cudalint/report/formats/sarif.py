"""SARIF 2.1.0 (OASIS), within the limits of GitHub's code scanning.

Columns count UTF-16 code units. Paths are relative to the project's root, whose place the reader knows
(`%SRCROOT%`). Findings that annotations allow are there with their justification.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby

from cudalint import __version__
from cudalint.catalogue import page_in
from cudalint.diagnostics import Diagnostic, Edit, Severity, Suggestion
from cudalint.facts import Place
from cudalint.registry import RuleClass, all_rules
from cudalint.report.findings.identity import fingerprints
from cudalint.report.findings.places import path_from, project_root, uri, utf16_columns
from cudalint.report.findings.results import CheckResult, Failure, are_errors
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import wording
from cudalint.report.formats.diagnostics_json import JsonObject, plain_number
from cudalint.report.formats.line_hashes import line_hashes
from cudalint.report.formats.pages import address_on_network
from cudalint.report.formats.plain import json_text
from cudalint.report.formats.plain import sarif as sarif_text
from cudalint.report.formats.presentation import Order, Presentation, in_order

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "%SRCROOT%"
# docs.github.com, "SARIF support for code scanning": validation of a SARIF file.
_MOST_RESULTS = 25_000
_MOST_RELATED = 1_000
_LONGEST_DESCRIPTION = 1_024

_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}


def render(result: CheckResult, sources: SourceLines, shown: Presentation) -> Iterator[str]:
    yield json_text(_Report(sources).document(result, shown.order), indent=2)


class _Report:
    """Knows the files that places point into, and the root that paths count from."""

    def __init__(self, sources: SourceLines) -> None:
        self._sources = sources
        self._relative = partial(path_from, project_root())
        self._hashes: dict[str, list[str]] = {}

    def document(self, result: CheckResult, order: Order) -> JsonObject:
        coverage = result.coverage
        # Beyond GitHub's limit a file is refused, so that the worst are what has to stay.
        shown = [*in_order(result.diagnostics, order), *result.suppressed]
        marks = fingerprints(shown, self._sources, self._relative)
        results = [self._result(d, mark) for d, mark in zip(shown, marks, strict=True)][:_MOST_RESULTS]
        notifications = [self._notification(failure) for failure in result.failures]
        if len(shown) > _MOST_RESULTS:
            text = f"{len(shown) - _MOST_RESULTS} more findings are left out"
            notifications.append({"level": "warning", "message": {"text": text}})
        run: JsonObject = {
            "tool": {"driver": _driver()},
            "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the project."}}},
            "invocations": [
                {"executionSuccessful": not are_errors(result.failures), "toolExecutionNotifications": notifications}
            ],
            "results": results,
            "properties": {
                "target": result.target,
                "kernels": len(coverage.kernels),
                "accesses": len(coverage.accesses) if coverage.is_of_accesses else None,
                "evaluated": coverage.evaluated if coverage.is_of_accesses else None,
                "unknownKernels": coverage.unknown_kernels if coverage.is_of_accesses else None,
                "kernelsWithoutAccesses": coverage.kernels_without_accesses if coverage.is_of_accesses else None,
            },
        }
        return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}

    def _result(self, diagnostic: Diagnostic, mark: str) -> JsonObject:
        same = "" if diagnostic.is_headline else "The same: "
        related = [(each.place, each.message, "") for each in diagnostic.related]
        related += ((other.place, f"{same}{other.message}.", other.kernel) for other in diagnostic.also)
        found: JsonObject = {
            "ruleId": diagnostic.code,
            "ruleIndex": _index_of(diagnostic.code),
            "level": _LEVELS[diagnostic.severity],
            "message": {"text": sarif_text("\n".join((f"{diagnostic.message}.", *wording.explanation(diagnostic))))},
            "locations": [self._location(diagnostic.place, diagnostic.kernel)],
            "partialFingerprints": {**self._line_hash(diagnostic.place), "cudalint/v1": mark},
            "properties": {name: plain_number(value) for name, value in diagnostic.figures.items()},
        }
        if found["ruleIndex"] is None:
            del found["ruleIndex"]
        if related:
            found["relatedLocations"] = [
                {"id": number, **self._location(place, kernel), "message": {"text": sarif_text(text)}}
                for number, (place, text, kernel) in enumerate(related[:_MOST_RELATED], start=1)
            ]
        if diagnostic.also:
            found["occurrenceCount"] = diagnostic.occurrences
        if diagnostic.suggestion and diagnostic.suggestion.edits:
            found["fixes"] = [self._fix(diagnostic.suggestion)]
        if diagnostic.justification:
            found["suppressions"] = [
                {
                    "kind": "inSource",
                    "status": "accepted",
                    "justification": diagnostic.justification.reason,
                    "location": self._location(diagnostic.justification.place),
                }
            ]
        return found

    def _location(self, place: Place, kernel: str = "") -> JsonObject:
        start, end = utf16_columns(place, self._sources)
        region = {"startLine": place.line, "startColumn": start, "endLine": place.end_line, "endColumn": end}
        found: JsonObject = {"physicalLocation": {"artifactLocation": self._artifact(place.path), "region": region}}
        if kernel:
            found["logicalLocations"] = [{"name": kernel, "kind": "function"}]
        return found

    def _artifact(self, path: str) -> JsonObject:
        relative = uri(self._relative(path))
        return {"uri": relative} if relative.startswith("file:") else {"uri": relative, "uriBaseId": _ROOT}

    def _line_hash(self, place: Place) -> dict[str, str]:
        """Nothing for a file that is gone, or that is no file."""
        if place.path not in self._hashes:
            text = self._sources.text(place.path)
            self._hashes[place.path] = line_hashes(text) if text else []
        hashes = self._hashes[place.path]
        return {"primaryLocationLineHash": hashes[place.line - 1]} if place.line <= len(hashes) else {}

    def _fix(self, suggestion: Suggestion) -> JsonObject:
        edits = sorted(suggestion.edits, key=lambda edit: edit.place)
        changes = [
            {"artifactLocation": self._artifact(path), "replacements": [self._replacement(edit) for edit in group]}
            for path, group in groupby(edits, key=lambda edit: edit.place.path)
        ]
        return {
            "description": {"text": sarif_text(wording.advice(suggestion))},
            "artifactChanges": changes,
            "properties": {"applicability": suggestion.applicability},
        }

    def _replacement(self, edit: Edit) -> JsonObject:
        start, end = utf16_columns(edit.place, self._sources)
        region = {
            "startLine": edit.place.line,
            "startColumn": start,
            "endLine": edit.place.end_line,
            "endColumn": end,
        }
        return {"deletedRegion": region, "insertedContent": {"text": edit.text}}

    def _notification(self, failure: Failure) -> JsonObject:
        return {
            "level": failure.severity,
            "message": {"text": sarif_text(f"{failure.path}: {failure.message}")},
            "locations": [{"physicalLocation": {"artifactLocation": self._artifact(failure.path)}}],
        }


def _driver() -> JsonObject:
    pages = address_on_network()
    return {
        "name": "cudalint",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(rule, pages) for rule in all_rules()],
    }


def _rule(rule: RuleClass, pages: str) -> JsonObject:
    text = inspect.cleandoc(rule.__doc__ or rule.summary)
    page = page_in(pages, rule.code)
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": _capital(rule.summary)},
        "fullDescription": {"text": _first_paragraph(text)[:_LONGEST_DESCRIPTION]},
        **({"helpUri": page} if page.startswith("https://") else {}),
        "help": {"text": text},
        "defaultConfiguration": {"enabled": rule.on_by_default, "level": _LEVELS[rule.severity]},
        "properties": {
            "tags": ["cuda", "correctness" if rule.severity == "error" else "performance"],
            "precision": "high",
            "problem.severity": "recommendation" if rule.severity == "info" else rule.severity,
        },
    }


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _first_paragraph(page: str) -> str:
    return " ".join(page.split("\n\n", 1)[0].split())


def _index_of(code: str) -> int | None:
    codes: Sequence[str] = [rule.code for rule in all_rules()]
    return codes.index(code) if code in codes else None
