"""`check --format json`: the contract that schemas/diagnostics.schema.json states."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from cudalint import __version__
from cudalint.diagnostics import Diagnostic, Suggestion
from cudalint.facts import FindingCost, LaunchFacts, Place
from cudalint.report.findings.causes import everything_in
from cudalint.report.findings.choosing import distinct_fixes
from cudalint.report.findings.requirements import Requirement, condition_of, requirements
from cudalint.report.findings.results import CheckResult, Failure
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
        "failures": [_failure(failure) for failure in result.failures],
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


def _failure(failure: Failure) -> JsonObject:
    return {
        "path": failure.path,
        "message": failure.message,
        "severity": failure.severity,
        "kernels": list(failure.kernels),
        "number_of_kernels": failure.number,
    }


def document_head(target: str) -> JsonObject:
    """What every document starts with."""
    return {"schema": SCHEMA, "tool": {"name": "cudalint", "version": __version__}, "target": target}


def launch_object(launch: LaunchFacts) -> JsonObject:
    return {
        "block": list(launch.block),
        "grid": list(launch.grid),
        "grid_is_assumed": launch.grid_is_assumed,
        "dynamic_shared_bytes": launch.dynamic_shared_bytes,
        "source": launch.source,
        "path": launch.path,
        "line": launch.line,
        "parameters": dict(launch.parameters),
        "assumptions": list(launch.assumptions),
    }


def plain_number(value: float | None) -> float | None:
    """A figure as JSON has it: numpy's numbers become Python's, and what is no number becomes null."""
    if value is None or not math.isfinite(value):
        return None
    return value if isinstance(value, int) else float(value)


def _diagnostic(diagnostic: Diagnostic) -> JsonObject:
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity,
        **_place(diagnostic.place),
        "message": diagnostic.message,
        "kernel": diagnostic.kernel or None,
        "instantiation": diagnostic.instantiation or None,
        "certainty": certainty_of(diagnostic),
        "condition": condition_of(diagnostic) if certainty_of(diagnostic) == "conditional" else None,
        "worlds": {"held": diagnostic.worlds.held, "tried": diagnostic.worlds.tried},
        "held_back": diagnostic.held_back,
        "assumptions": list(diagnostic.assumptions),
        "not_in": list(diagnostic.not_in),
        "launches": [launch_object(launch) for launch in diagnostic.launches],
        "figures": _figures(diagnostic.figures),
        "cost": None if diagnostic.cost is None else _cost(diagnostic.cost),
        "related": [{**_place(related.place), "message": related.message} for related in diagnostic.related],
        "suggestion": _suggestion(diagnostic.suggestion) if diagnostic.suggestion else None,
        "no_edit": diagnostic.no_edit or None,
        "variants": [_variant(variant) for variant in diagnostic.variants],
        "occurrences": diagnostic.occurrences,
        "also": [_occurrence(other) for other in diagnostic.also],
    }


def _occurrence(other: Diagnostic) -> JsonObject:
    """Another finding of the same cause, in short."""
    return {
        **_place(other.place),
        "message": other.message,
        "kernel": other.kernel or None,
        "instantiation": other.instantiation or None,
        "assumptions": list(other.assumptions),
        "figures": _figures(other.figures),
    }


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
            "edits": [{**_place(edit.place), "text": edit.text} for edit in fix.edits],
            "diagnostics": sorted({numbers[id(diagnostic)] for diagnostic in fix.findings}),
        }


def _variant(variant: Diagnostic) -> JsonObject:
    return {
        "message": variant.message,
        "instantiation": variant.instantiation or None,
        "assumptions": list(variant.assumptions),
        "launches": [launch_object(launch) for launch in variant.launches],
        "figures": _figures(variant.figures),
    }


def _suggestion(suggestion: Suggestion) -> JsonObject:
    return {
        "applicability": suggestion.applicability,
        "message": suggestion.message,
        "edits": [{**_place(edit.place), "text": edit.text} for edit in suggestion.edits],
        "before": _figures(suggestion.before),
        "after": _figures(suggestion.after),
    }


def _place(place: Place) -> JsonObject:
    return {
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
    }


def _cost(cost: FindingCost) -> JsonObject:
    return {
        "share": plain_number(cost.share),
        "speedup": plain_number(cost.speedup),
        "limiter": cost.limiter,
        "sectors": plain_number(cost.sectors),
        "wavefronts": plain_number(cost.wavefronts),
        "traffic_share": plain_number(cost.traffic_share),
        "status": cost.status,
        "reason": cost.reason,
        "time_us": plain_number(cost.kernel.time_us) if cost.kernel is not None else None,
    }


def _figures(figures: Mapping[str, float]) -> JsonObject:
    return {name: plain_number(value) for name, value in figures.items()}
