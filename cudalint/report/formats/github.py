"""GitHub Actions: a workflow command for each finding, and the step's summary.

GitHub shows ten errors, ten warnings and ten notices of a step as annotations, and drops the others: the worst come
first, and the summary has them all.
"""

from __future__ import annotations

from collections.abc import Iterator

from cudalint.diagnostics import Diagnostic, Severity
from cudalint.report.findings.causes import everything_in
from cudalint.report.findings.places import path_from, project_root, utf16_columns
from cudalint.report.findings.results import SEVERITIES, CheckResult, excess, worst_first
from cudalint.report.findings.sources import SourceLines
from cudalint.report.formats import costs, plain, wording
from cudalint.report.formats.losses import Loss, losses
from cudalint.report.formats.presentation import Presentation, by_cost, in_order

_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}
_MOST_KERNELS = 20
_MOST_BYTES = 1_000_000
"""A step's summary may have 1 MiB (docs.github.com, "Workflow commands": step isolation and limits)."""


def render(result: CheckResult, sources: SourceLines, shown: Presentation) -> Iterator[str]:
    root = project_root()
    for failure in result.failures:
        title = "not linted" if failure.severity == "error" else "not linted in full"
        yield _command(failure.severity, {"file": path_from(root, failure.path), "title": title}, failure.message)
    for diagnostic in in_order(result.diagnostics, shown.order):
        yield _command(
            _COMMANDS[diagnostic.severity],
            {**_where(diagnostic, sources, root), "title": f"{diagnostic.code} {diagnostic.name}"},
            "\n".join((diagnostic.message, *wording.explanation(diagnostic))),
        )
    if not shown.quiet:
        yield from map(plain.line, (*costs.minor(result), wording.summary(result)))


def _where(diagnostic: Diagnostic, sources: SourceLines, root: str) -> dict[str, str]:
    """The place. GitHub takes columns only where both ends are on one line."""
    place = diagnostic.place
    found = {"file": path_from(root, place.path), "line": str(place.line), "endLine": str(place.end_line)}
    if place.line == place.end_line:
        start, end = utf16_columns(place, sources)
        found |= {"col": str(start), "endColumn": str(end)}
    return found


def _command(name: str, properties: dict[str, str], message: str) -> str:
    written = ",".join(f"{key}={plain.command_property(value)}" for key, value in properties.items())
    return f"::{name} {written}::{plain.command(message)}"


# --- the step's summary --------------------------------------------------------------------------------------


def step_summary(result: CheckResult) -> str:
    """All findings as a table in Markdown, for `$GITHUB_STEP_SUMMARY`."""
    root = project_root()
    lines = ["### cudalint", "", f"{plain.cell(wording.summary(result))}.", ""]
    lines += (f"- **{plain.cell(path_from(root, f.path))}**: {plain.cell(f.message)}" for f in result.failures)
    if result.failures:
        lines.append("")
    lines += _kernels(result)
    if result.diagnostics:
        lines += ["| | rule | place | kernel | finding |", "|---|---|---|---|---|"]
    size = sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)
    for number, diagnostic in enumerate(by_cost(result.diagnostics)):
        row = _row(diagnostic, root)
        size += len(row.encode("utf-8", "replace")) + 1
        if size > _MOST_BYTES:
            lines += ["", f"{len(result.diagnostics) - number} more findings are left out."]
            break
        lines.append(row)
    return "\n".join(lines) + "\n"


def _kernels(result: CheckResult) -> Iterator[str]:
    """The kernels that have findings, as a table where there are several: those first that lose most of the time that
    was recorded, then those that would gain most, then those with the worst findings."""
    found: dict[str, list[Diagnostic]] = {}
    for diagnostic in result.diagnostics:
        if diagnostic.kernel:
            found.setdefault(diagnostic.kernel, []).append(diagnostic)
    if len(found) < 2:
        return
    lost: dict[str, Loss] = {}
    for loss in losses(everything_in(result.diagnostics)):
        lost.setdefault(loss.findings[0].kernel, loss)
    shares = {kernel: _recorded_share(lost.get(kernel)) for kernel in found}
    heads = ["kernel", "errors", "warnings", "infos", "worst finding", "faster without it"]
    heads += ["of the recorded time"] if any(shares.values()) else []
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for kernel, own in sorted(found.items(), key=lambda item: _rank(item[1], lost.get(item[0])))[:_MOST_KERNELS]:
        worst = next(worst_first(own))
        gain = _gain(own)
        counts = (str(sum(d.severity == severity for d in own)) for severity in SEVERITIES)
        share = costs.share(shares[kernel]) if shares[kernel] else ""
        cells = (_code(kernel), *counts, f"{worst.code} {worst.name}", f"{gain:.2g}x" if gain > 1 else "", share)
        yield f"| {' | '.join(map(plain.cell, cells[: len(heads)]))} |"
    if len(found) > _MOST_KERNELS:
        yield ""
        yield f"{len(found) - _MOST_KERNELS} more kernels have findings."
    yield ""


def _rank(own: list[Diagnostic], loss: Loss | None) -> tuple[float, ...]:
    worst = next(worst_first(own))
    recorded = loss.weight[0] if loss is not None else 0.0
    return -recorded, -_gain(own), SEVERITIES.index(worst.severity), -excess(worst), -len(own)


def _gain(own: list[Diagnostic]) -> float:
    """How many times faster a kernel is without the one finding that costs it most, where that is known."""
    found = filter(None, map(costs.of, own))
    return max((cost.speedup for cost in found if cost.speedup is not None), default=1.0)


def _recorded_share(loss: Loss | None) -> float:
    """Of the time of the program that was recorded, what a kernel takes in the launch in which it loses most; 0 where
    that isn't known."""
    recorded = loss.kernel.launch.recorded if loss is not None else None
    return (recorded.share or 0.0) if recorded is not None else 0.0


def _row(diagnostic: Diagnostic, root: str) -> str:
    place = f"{path_from(root, diagnostic.place.path)}:{diagnostic.place.line}"
    rule, finding = f"{diagnostic.code} {diagnostic.name}", diagnostic.message + wording.more_places(diagnostic)
    cells = (diagnostic.severity, rule, place, _code(diagnostic.kernel), finding)
    return f"| {' | '.join(map(plain.cell, cells))} |"


def _code(text: str) -> str:
    return f"`{text}`" if text else ""
