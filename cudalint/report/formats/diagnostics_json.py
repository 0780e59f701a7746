"""`check --format json`: the contract that schemas/diagnostics.schema.json states."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from cudalint import __version__
from cudalint.diagnostics import Diagnostic, Edit, Suggestion
from cudalint.facts import FindingCost, LaunchFacts, Place, RecordedFacts
from cudalint.report.findings.causes import everything_in
from cudalint.report.findings.choosing import distinct_fixes
from cudalint.report.findings.requirements import Requirement, condition_of, requirements
from cudalint.report.findings.results import CheckResult
from cudalint.report.findings.showing import certainty_of
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats.plain import json_text
from cudalint.report.formats.presentation import Presentation

SCHEMA = 1

JsonObject = dict[str, object]


def render(result: CheckResult, sources: SourceLines, shown: Presentation) -> Iterator[str]:
    yield json_text(document(result), indent=2)


def document(result: CheckResult) -> JsonObject:
    coverage = result.coverage
    return {
        **document_head(result.target),
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in result.diagnostics],
        "fixes": list(_fixes(result.diagnostics)),
        "fixed": [_diagnostic(diagnostic) for diagnostic in result.fixed],
        "requirements": [_requirement(each) for each in requirements(result.minor)],
        "failures": [
            {**picked(f, "path", "message", "severity", "kernels"), "number_of_kernels": f.number}
            for f in result.failures
        ],
        "summary": {
            "files": result.files,
            "kernels": len(coverage.kernels),
            "accesses": len(coverage.accesses) if coverage.is_of_accesses else None,
            "evaluated": coverage.evaluated if coverage.is_of_accesses else None,
            "unknown_kernels": coverage.unknown_kernels if coverage.is_of_accesses else None,
            "kernels_without_accesses": coverage.kernels_without_accesses if coverage.is_of_accesses else None,
            "launches_left_out": coverage.launches_left_out,
            "not_linted": [{"kind": language, "number": number} for language, number in result.not_linted],
            "errors": result.count("error"),
            "warnings": result.count("warning"),
            "infos": result.count("info"),
            "below_min_share": sum(d.held_back == "small" for d in result.minor),
            "requirements": len(requirements(result.minor)),
            "held_back": dict(Counter(str(d.held_back) for d in result.minor)),
        },
    }


def document_head(target: str) -> JsonObject:
    """What every document starts with."""
    return {"schema": SCHEMA, "tool": {"name": "cudalint", "version": __version__}, "target": target}


def picked(record: object, *names: str) -> JsonObject:
    """Some fields of a record as JSON has them, in this order."""
    return {name: plain_value(getattr(record, name)) for name in names}


def plain_value(value: object) -> object:
    """What a record holds as JSON has it: lists for tuples, and figures as `plain_number` has them."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {name: plain_value(each) for name, each in value.items()}
    if isinstance(value, tuple | list):
        return [plain_value(each) for each in value]
    return plain_number(value)  # type: ignore[arg-type]  # A float, or a number of numpy's.


def launch_object(launch: LaunchFacts) -> JsonObject:
    own = picked(
        launch, "block", "grid", "grid_is_assumed", "dynamic_shared_bytes", "source", "path", "line", "parameters",
        "assumptions",
    )  # fmt: skip
    return own if launch.recorded is None else {**own, "recorded": recorded_object(launch.recorded)}


def recorded_object(recorded: RecordedFacts) -> JsonObject:
    return picked(recorded, "count", "different", "evaluated", "file", "time_us", "total_us", "share")


def plain_number(value: float | None) -> float | None:
    """A figure as JSON has it: numpy's numbers become Python's, and what is no number becomes null."""
    if value is None or not math.isfinite(value):
        return None
    return value if isinstance(value, int) else float(value)


def _diagnostic(diagnostic: Diagnostic) -> JsonObject:
    is_conditional = certainty_of(diagnostic) == "conditional"
    return {
        **picked(diagnostic, "code", "name", "severity"),
        **place_object(diagnostic.place),
        "message": diagnostic.message,
        **_kernel(diagnostic),
        "certainty": certainty_of(diagnostic),
        "condition": condition_of(diagnostic) if is_conditional else None,
        **({"separated_by": diagnostic.separated_by} if diagnostic.separated_by else {}),
        "worlds": picked(diagnostic.worlds, "held", "tried"),
        **picked(diagnostic, "held_back", "assumptions", "not_in"),
        "launches": [launch_object(launch) for launch in diagnostic.launches],
        "figures": plain_value(diagnostic.figures),
        "cost": None if diagnostic.cost is None else _cost(diagnostic.cost),
        "related": [{**place_object(each.place), "message": each.message} for each in diagnostic.related],
        "suggestion": _suggestion(diagnostic.suggestion) if diagnostic.suggestion else None,
        "no_edit": diagnostic.no_edit or None,
        "variants": [
            {
                "message": variant.message,
                "instantiation": variant.instantiation or None,
                **picked(variant, "assumptions"),
                "launches": [launch_object(launch) for launch in variant.launches],
                **picked(variant, "figures"),
            }
            for variant in diagnostic.variants
        ],
        "occurrences": diagnostic.occurrences,
        "also": [_occurrence(other) for other in diagnostic.also],
    }


def _kernel(diagnostic: Diagnostic) -> JsonObject:
    return {"kernel": diagnostic.kernel or None, "instantiation": diagnostic.instantiation or None}


def _occurrence(other: Diagnostic) -> JsonObject:
    """Another finding of the same cause, in short."""
    own = picked(other, "assumptions", "figures")
    return {**place_object(other.place), "message": other.message, **_kernel(other), **own}


def _requirement(requirement: Requirement) -> JsonObject:
    return {
        "path": requirement.path,
        "kernel": requirement.kernel or None,
        "message": requirement.text,
        "findings": [{**_occurrence(d), "code": d.code, "condition": condition_of(d)} for d in requirement.findings],
    }


def _fixes(diagnostics: Sequence[Diagnostic]) -> Iterator[JsonObject]:
    """Each distinct set of edits once, with the findings that suggest it."""
    numbers = {id(each): number for number, one in enumerate(diagnostics) for each in everything_in([one])}
    for fix in distinct_fixes(everything_in(diagnostics)):
        yield {
            "applicability": "safe" if fix.is_safe else "unsafe",
            "message": fix.suggestion.message,
            "edits": _edits(fix.edits),
            "diagnostics": sorted({numbers[id(diagnostic)] for diagnostic in fix.findings}),
        }


def _suggestion(suggestion: Suggestion) -> JsonObject:
    own = picked(suggestion, "applicability", "message")
    return {**own, "edits": _edits(suggestion.edits), **picked(suggestion, "before", "after")}


def _edits(edits: Sequence[Edit]) -> list[JsonObject]:
    return [{**place_object(edit.place), "text": edit.text} for edit in edits]


def place_object(place: Place) -> JsonObject:
    return picked(place, "path", "line", "column", "end_line", "end_column")


def _cost(cost: FindingCost) -> JsonObject:
    own = picked(
        cost, "share", "speedup", "limiter", "sectors", "wavefronts", "traffic_share", "status", "reason"
    )  # fmt: skip
    return {**own, "time_us": plain_number(cost.kernel.time_us) if cost.kernel is not None else None}
