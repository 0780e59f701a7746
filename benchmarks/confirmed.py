"""What the records beside the fixtures hold: how many predictions agreed with a GPU, and what suggestions brought.

`python benchmarks/confirmed.py` prints the tables of docs/confirm.md, `--write` puts them there.
"""

from __future__ import annotations

import contextlib
import functools
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cudalint.diagnostics import Diagnostic
from cudalint.hardware.cost.findings import cost_of_all
from cudalint.hardware.targets import UnknownTarget, find_target
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

_ROOT = Path(__file__).parent.parent
PAGE = _ROOT / "docs" / "confirm.md"
_BEGIN, _END = "<!-- records: begin -->", "<!-- records: end -->"
_QUANTITIES = (
    "sectors", "wavefronts", "active lanes", "divergent warps", "divergent jumps", "static shared bytes",
    "blocks per SM", "error",
)  # fmt: skip

Record = Mapping[str, Any]


def records() -> dict[str, Record]:
    """What `cudalint confirm --record` wrote, by the fixture's path."""
    found: dict[str, Record] = {}
    for path in sorted((_ROOT / "fixtures").glob("*/*.measured.json")):
        record = json.loads(path.read_text(encoding="utf-8")).get("confirm")
        if record is not None:
            found[str(path.relative_to(_ROOT)).replace(".measured.json", ".cu")] = record
    return found


def text(found: Mapping[str, Record]) -> str:
    layouts = ["What other layouts brought:", "", *_layouts(found)]
    barriers = ["What barriers cost, once the races are gone that the linter finds:", "", *_barriers(found)]
    return "\n".join([*_devices(found), "", *_counts(found), "", *layouts, "", *barriers])


def _devices(found: Mapping[str, Record]) -> Iterator[str]:
    devices: dict[str, set[str]] = {}
    for record in found.values():
        d = record["device"]
        name = f"{d['name']} ({d['architecture']}), driver {d['driver']}, {d['compiler']}, CuPy {d['cupy']}"
        devices.setdefault(name, set()).add(record["date"])
    for name, dates in sorted(devices.items()):
        yield f"Measured on {', '.join(sorted(dates))}: {name}."


def _counts(found: Mapping[str, Record]) -> Iterator[str]:
    rows = [row for record in found.values() for row in record["rows"]]
    yield "| quantity | equal within 5% | off | not measured |"
    yield "|---|---:|---:|---:|"
    for quantity in _QUANTITIES:
        verdicts = [row["verdict"] for row in rows if row["quantity"] == quantity]
        counts = " | ".join(str(verdicts.count(verdict)) for verdict in ("equal", "off", "not measured"))
        yield f"| {quantity} | {counts} |"


def _layouts(found: Mapping[str, Record]) -> Iterator[str]:
    yield "| kernel | suggested | wavefronts before | after | ideal | before | after | faster | predicted | outputs |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|---|"
    pairs: list[tuple[float, float]] = []
    for path, fix in _fixes(found):
        if fix["quantity"] != "races" and None not in (fix["before"], fix["after"]):
            suggested = fix["suggestion"].partition(":")[0]
            figures = " | ".join(f"{fix[key]:g}" for key in ("before", "after", "ideal"))
            predicted = predicted_speedup(path, fix, found[path]["device"]["name"])
            measured = fix["milliseconds_before"] / fix["milliseconds_after"]
            both = f"{measured:.2f}x | {'' if predicted is None else f'{predicted:.1f}x'}"
            pairs += [(measured, predicted)] if predicted is not None else []
            yield f"| {_kernel(path, fix)} | {suggested} | {figures} | {_times(fix)} | {both} | {fix['outputs']} |"
    yield ""
    yield from _compared(pairs)


def _compared(pairs: Sequence[tuple[float, float]]) -> Iterator[str]:
    """How predicted speed-ups stand to measured ones."""
    large = [(measured, predicted) for measured, predicted in pairs if abs(measured - 1) > _NOISE]
    signs = sum((measured > 1) == (predicted > 1) for measured, predicted in large)
    near = sum(max(measured / predicted, predicted / measured) <= _NEAR for measured, predicted in pairs)
    yield (
        f"Predicted is what the findings cost together that a layout settles, on that GPU. Of {len(large)} layouts "
        f"that changed the time by more than {_NOISE:.0%}, {signs} changed it as predicted, faster or slower; of all "
        f"{len(pairs)}, {near} by a factor within {_NEAR:g}x of the predicted one."
    )


_NOISE = 0.05
_NEAR = 1.5


@functools.cache
def _findings(path: str, target: str, code: str) -> tuple[Diagnostic, ...]:
    job = CheckJob(str(_ROOT / path), AnalysisOptions(target=target), Selection((code,)), False, tries_edits=False)
    report = check_file(job)
    assert isinstance(report, FileReport), report
    return report.diagnostics


def _target_of(device: str) -> str | None:
    """The target that the device's own name names: `NVIDIA H100 80GB HBM3`."""
    for word in device.split():
        with contextlib.suppress(UnknownTarget):
            return find_target(word).name
    return None


def predicted_speedup(path: str, fix: Mapping[str, Any], device: str) -> float | None:
    """What the model says of a fix: that of all findings about the array of the one that it was suggested for."""
    target = _target_of(device)
    if target is None:
        return None
    names = {fix["kernel"]}
    of_kernel = [d for d in _findings(path, target, fix["code"]) if names & {d.kernel, d.instantiation}]
    own = next((each for each in of_kernel if each.place.line == fix["line"]), None)
    if own is None:
        return None
    array = own.causes[:1], own.instantiation
    alike = [d for d in of_kernel if (d.causes[:1], d.instantiation) == array]
    costs = {d.place: d.cost for d in alike if d.cost is not None and d.cost.kernel is not None}
    first = next(iter(costs.values()), None)
    kernel = first.kernel if first is not None else None
    return cost_of_all(kernel, list(costs.values())).speedup if kernel is not None else None


def _barriers(found: Mapping[str, Record]) -> Iterator[str]:
    yield "| kernel | suggested | races before | after | before | after | outputs |"
    yield "|---|---|---:|---:|---:|---:|---|"
    for path, fix in _fixes(found):
        if fix["quantity"] == "races":
            suggested = fix["suggestion"].removesuffix(" orders them")
            figures = " | ".join(f"{fix[key]:g}" for key in ("before", "after"))
            yield f"| {_kernel(path, fix)} | {suggested} | {figures} | {_times(fix)} | {fix['outputs']} |"


def _fixes(found: Mapping[str, Record]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path, record in found.items():
        for fix in record["fixes"]:
            if None not in (fix["milliseconds_before"], fix["milliseconds_after"]):
                yield path, fix


def _kernel(path: str, fix: Mapping[str, Any]) -> str:
    return f"`{fix['kernel']}` ({path.removeprefix('fixtures/')}:{fix['line']})"


def _times(fix: Mapping[str, Any]) -> str:
    return " | ".join(f"{1000 * fix[f'milliseconds_{key}']:.1f} µs" for key in ("before", "after"))


def written(page: str, tables: str) -> str:
    """The page with the tables in their place."""
    head, _, rest = page.partition(_BEGIN)
    _, _, tail = rest.partition(_END)
    return f"{head}{_BEGIN}\n{tables}\n{_END}{tail}"


def main(arguments: Sequence[str]) -> int:
    tables = text(records())
    if "--write" in arguments:
        PAGE.write_text(written(PAGE.read_text(encoding="utf-8"), tables), encoding="utf-8")
    else:
        print(tables)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
