"""The report of a confirmation: a table, a summary, JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import asdict

from cudalint import __version__
from cudalint.confirm.fixes import FixRow
from cudalint.confirm.rows import Row, summary_of
from cudalint.confirm.session import Report
from cudalint.numerals import dimensions, figure

SCHEMA = 1


def lines(report: Report, fixes: Sequence[FixRow], *, verbose: bool = True) -> Iterator[str]:
    """The table; without `verbose` only what does not agree."""
    if report.device is not None:
        device = report.device
        yield f"{device.name} ({device.architecture}), driver {device.driver}, {device.compiler}, CuPy {device.cupy}"
    yield from (f"note: {note}" for note in report.notes)
    shown = [row for row in report.rows if verbose or row.verdict != "equal"]
    last: object = None
    width = max((len(row.subject) for row in shown), default=0)
    for row in shown:
        heading = (row.path, row.kernel, row.block, row.grid)
        if heading != last:
            yield ""
            yield f"{row.path}: {row.kernel}, block {dimensions(row.block)}, grid {dimensions(row.grid)}"
        last = heading
        yield _line(row, width)
    if fixes:
        yield ""
        yield from _fix_lines(fixes)
    yield ""
    yield summary_line(report)


def _line(row: Row, width: int) -> str:
    measured = "-" if row.measured is None else _value(row.measured)
    note = f"  ({row.note})" if row.note else ""
    source = f" [{row.source}]" if row.measured is not None else ""
    return (
        f"  {row.line:>5}  {row.subject:<{width}}  {row.quantity:<19} predicted {_value(row.predicted):<8} "
        f"measured {measured:<8} {row.verdict}{source}{note}"
    )


def _value(value: float | str) -> str:
    return value if isinstance(value, str) else figure(value)


def summary_line(report: Report) -> str:
    summary = summary_of(report.rows)
    total = summary.equal + summary.off + summary.not_measured
    verdicts = f"{summary.equal} equal within 5%, {summary.off} off, {summary.not_measured} not measured"
    text = f"{total} predictions: {verdicts}"
    if report.unpredicted:
        text += f"; {report.unpredicted} accesses have no predicted figure"
    return text


def _fix_lines(fixes: Sequence[FixRow]) -> Iterator[str]:
    yield "suggestions, before and after:"
    for row in fixes:
        change = f"{row.quantity} {_number(row.before)} -> {_number(row.after)} (ideal {_number(row.ideal)})"
        time = f"{_time(row.milliseconds_before)} -> {_time(row.milliseconds_after)}"
        yield f"  {row.path}:{row.line}: {row.code} {row.kernel}: {change}, {time}, outputs {row.outputs}"


def _number(value: float | None) -> str:
    return "?" if value is None else figure(value)


def _time(milliseconds: float | None) -> str:
    return "?" if milliseconds is None else f"{milliseconds * 1000:.1f} us"


def document(report: Report, fixes: Sequence[FixRow]) -> dict[str, Any]:
    """The report as JSON (cudalint/schemas/confirm.schema.json)."""
    summary = summary_of(report.rows)
    return {
        "schema": SCHEMA,
        "tool": {"name": "cudalint", "version": __version__},
        "device": asdict(report.device) if report.device else None,
        "notes": list(report.notes),
        "rows": [asdict(row) for row in report.rows],
        "kernels": [
            {
                "kernel": one.candidate.kernel.instantiation,
                "path": one.candidate.kernel.name_place.path,
                "line": one.candidate.kernel.name_place.line,
                "block": one.candidate.facts.block,
                "grid": one.candidate.facts.grid,
                "assumed": list(one.candidate.plan.assumed) if one.candidate.plan else [],
                "module": asdict(one.outcome.module) if one.outcome and one.outcome.module else None,
                "milliseconds": one.outcome.milliseconds if one.outcome else None,
            }
            for one in report.measured
        ],
        "fixes": [asdict(row) for row in fixes],
        "failures": [asdict(failure) for failure in report.failures],
        "summary": {**asdict(summary), "without_prediction": report.unpredicted},
    }
