"""`cudalint diff --format json`: the contract that schemas/diff.schema.json states."""

from __future__ import annotations

from cudalint.cli.comparing.gates import Verdict
from cudalint.cli.comparing.pairing import AccessChange, Compared
from cudalint.cli.comparing.reported import Report
from cudalint.cli.comparing.versions import Version
from cudalint.diagnostics import Diagnostic
from cudalint.report.formats.diagnostics_json import JsonObject, document_head, picked


def document(report: Report) -> JsonObject:
    comparison, old, new = report.comparison, report.old, report.new
    return {
        **document_head(new.target),
        "base_target": old.target,
        "base_revision": report.revision,
        "differs": report.differs,
        "same_files": list(report.same),
        "not_compared": [new.shown_key(key) for key in comparison.unknown],
        "cut_short": [
            {"path": new.shown(own.facts.place.path), "kernel": own.facts.instantiation}
            for own in (pair.either for pair in comparison.cut)
        ],
        "kernels": [_json_launch(each, old, new) for each in comparison.launches],
        "appeared": [_json_finding(each, new) for each in comparison.appeared],
        "vanished": [_json_finding(each, old) for each in comparison.vanished],
        "gates": [
            {
                "gate": gate.text,
                "passes": not any(each.gate is gate for each in report.verdicts),
                "failed": [_json_verdict(each) for each in report.failed if each.gate is gate],
                "not_checked": [
                    _json_verdict(each) for each in report.verdicts if each.gate is gate and not each.is_checked
                ],
            }
            for gate in report.gates
        ],
        "failures": [
            {"base": version is old, "path": version.shown(each.path), **picked(each, "message", "severity")}
            for version in (old, new)
            for each in version.failures
        ],
    }


def _json_verdict(each: Verdict) -> JsonObject:
    name = each.pair.either.facts.instantiation
    return {
        "kernel": name,
        "block": each.launch.block if each.launch else None,
        "grid": each.launch.grid if each.launch else None,
        "more_launches": each.more,
        "figure": each.gate.name,
        "value": each.value,
        "reason": each.reason if each.is_checked else each.reason.replace("{}", name, 1),
    }


def _json_launch(each: Compared, old: Version, new: Version) -> JsonObject:
    return {
        "kernel": each.pair.either.facts.instantiation,
        "base": _json_side(each, old, is_old=True),
        "head": _json_side(each, new, is_old=False),
        "differs": each.differs,
        "accesses": [_json_access(access) for access in each.accesses],
        "appeared": [_json_finding(finding, new) for finding in each.appeared],
        "vanished": [_json_finding(finding, old) for finding in each.vanished],
    }


def _json_side(each: Compared, version: Version, is_old: bool) -> JsonObject | None:
    kernel = each.pair.old if is_old else each.pair.new
    launch, figures = (each.old_launch, each.old) if is_old else (each.new_launch, each.new)
    if kernel is None:
        return None
    place = kernel.facts.place
    return {
        "path": version.shown(place.path),
        "line": place.line,
        "kernel": kernel.facts.instantiation,
        "block": launch.block if launch else None,
        "grid": launch.grid if launch else None,
        "grid_is_assumed": launch.grid_is_assumed if launch else None,
        "dynamic_shared_bytes": launch.dynamic_shared_bytes if launch else None,
        "bound": each.old_bound if is_old else each.new_bound,
        "figures": {name: value for name, value in (figures or {}).items() if name != "time_us"},
        "findings": len(each.old_findings if is_old else each.new_findings),
    }


def _json_access(change_: AccessChange) -> JsonObject:
    access = change_.new or change_.old
    assert access is not None
    return {
        **picked(access, "space", "operation", "array"),
        "base_line": change_.old.place.line if change_.old else None,
        "head_line": change_.new.place.line if change_.new else None,
        "base": change_.old_figure,
        "head": change_.new_figure,
    }


def _json_finding(each: Diagnostic, version: Version) -> JsonObject:
    return {
        "path": version.shown(each.place.path),
        "line": each.place.line,
        **picked(each, "code", "name", "severity", "kernel", "message"),
    }
