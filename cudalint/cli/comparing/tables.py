"""`cudalint diff`: what differs of each kernel, for the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cudalint.cli.comparing.figures import KINDS, SHOWN, change, differ
from cudalint.cli.comparing.gates import Failed, Gate
from cudalint.cli.comparing.pairing import AccessChange, Compared, Comparison
from cudalint.cli.comparing.versions import Version
from cudalint.diagnostics import Diagnostic
from cudalint.facts import LaunchFacts
from cudalint.numerals import count
from cudalint.report.formats.diagnostics_json import JsonObject, document_head, picked
from cudalint.report.formats.style import Style
from cudalint.report.formats.wording import block_and_grid

_UNKNOWN = "-"


def text_lines(
    comparison: Comparison, old: Version, new: Version, gates: Sequence[Gate], failures: Sequence[Failed], style: Style
) -> Iterator[str]:
    same = 0
    before: object = None
    for each in comparison.launches:
        if not each.differs:
            same += 1
            continue
        yield from _launch(each, old, new, style)
        if each.pair is not before:
            yield from _findings(each.appeared, each.vanished, old, new, style)
            before = each.pair
        yield ""
    if comparison.appeared or comparison.vanished:
        yield style.paint("outside of kernels", "bold")
        yield from _findings(comparison.appeared, comparison.vanished, old, new, style)
        yield ""
    if same:
        yield f"{count(same, 'launch is', 'launches are')} the same"
    if not comparison.launches:
        yield "no kernels"
    for failure in failures:
        where = f"{failure.compared.pair.either.facts.instantiation}{_shape(failure.compared.new_launch)}"
        yield f"{style.paint('gate failed', 'red')}: `{failure.gate.text}`: {where}: {failure.reason}"
    if gates and not failures:
        yield f"{count(len(gates), 'gate')} passed"


def _shape(launch: LaunchFacts | None) -> str:
    return f", {block_and_grid(launch)}" if launch is not None else ""


def _launch(each: Compared, old: Version, new: Version, style: Style) -> Iterator[str]:
    pair = each.pair
    name = pair.either.facts.instantiation
    if pair.old and pair.new:
        before = pair.old.facts.instantiation
        title = name if before == name else f"{before} -> {name}"
        where = f"{old.place_text(pair.old.facts.place)} -> {new.place_text(pair.new.facts.place)}"
    else:
        title, version = (f"{name} is new", new) if pair.new else (f"{name} is gone", old)
        where = version.place_text(pair.either.facts.place)
    yield f"{style.paint(title, 'bold')} ({where}){_launches(each)}"
    if pair.new is None:
        return
    rows = list(_rows(each))
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    for row in rows:
        cells = (row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)))
        yield f"  {'  '.join(cells)}".rstrip()
    for access in each.accesses:
        yield f"  {_access(access)}"


def _launches(each: Compared) -> str:
    old, new = _shape(each.old_launch), _shape(each.new_launch)
    if each.old_launch is None or each.new_launch is None:
        lacks = each.pair.old is not None and each.pair.new is not None
        told = " (new launch)" if each.old_launch is None else " (launch is gone)"
        return f"{new or old}{told if lacks else ''}"
    return new if old == new else f"{new} (before{old.removeprefix(',')})"


def _rows(each: Compared) -> Iterator[tuple[str, str, str, str]]:
    """What differs; all that is known of a kernel or launch that only one version has."""
    old, new = each.old or {}, each.new or {}
    for name in SHOWN:
        before, after = old.get(name), new.get(name)
        if each.old is None or each.new is None:
            if after:
                yield KINDS[name].title, "", _figure(name, after), ""
        elif differ(before, after):
            yield KINDS[name].title, _figure(name, before), f"-> {_figure(name, after)}", change(name, before, after)


def _figure(name: str, value: float | None) -> str:
    return _UNKNOWN if value is None else KINDS[name].shown(value)


def _access(change_: AccessChange) -> str:
    access = change_.new or change_.old
    assert access is not None
    what = f"{access.space} {access.operation} of `{access.array}`, line {access.place.line}"
    if change_.old is None:
        return f"new: {what}: {change_.new_figure or 'not known'}"
    if change_.new is None:
        return f"gone: {what}: {change_.old_figure or 'not known'}"
    return f"{what}: {change_.old_figure or 'not known'} -> {change_.new_figure or 'not known'}"


def _findings(
    appeared: Sequence[Diagnostic], vanished: Sequence[Diagnostic], old: Version, new: Version, style: Style
) -> Iterator[str]:
    for sign, found, version in (("+", appeared, new), ("-", vanished, old)):
        lines = (
            f"  {sign} {style.severity(each.code, each.severity)} {version.place_text(each.place)}: {each.message}"
            for each in found
        )
        yield from dict.fromkeys(lines)


# JSON


def json_object(
    comparison: Comparison, old: Version, new: Version, gates: Sequence[Gate], failures: Sequence[Failed]
) -> JsonObject:
    return {
        **document_head(new.target),
        "base_target": old.target,
        "kernels": [_json_launch(each, old, new) for each in comparison.launches],
        "appeared": [_json_finding(each, new) for each in comparison.appeared],
        "vanished": [_json_finding(each, old) for each in comparison.vanished],
        "gates": [
            {
                "gate": gate.text,
                "passes": not any(each.gate is gate for each in failures),
                "failed": [_json_failed(each) for each in failures if each.gate is gate],
            }
            for gate in gates
        ],
        "failures": [
            {"base": version is old, **picked(each, "path", "message", "severity")}
            for version in (old, new)
            for each in version.failures
        ],
    }


def _json_failed(each: Failed) -> JsonObject:
    facts = each.compared.pair.either.facts
    launch = each.compared.new_launch
    return {
        "kernel": facts.instantiation,
        "block": launch.block if launch else None,
        "grid": launch.grid if launch else None,
        "figure": each.gate.name,
        "value": each.value,
        "reason": each.reason,
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
        "path": place.path if version.shows_own_paths else version.key_of(place.path),
        "line": place.line,
        "kernel": kernel.facts.instantiation,
        "block": launch.block if launch else None,
        "grid": launch.grid if launch else None,
        "grid_is_assumed": launch.grid_is_assumed if launch else None,
        "dynamic_shared_bytes": launch.dynamic_shared_bytes if launch else None,
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
    path = each.place.path if version.shows_own_paths else version.key_of(each.place.path)
    return {"path": path, "line": each.place.line, **picked(each, "code", "name", "severity", "kernel", "message")}
