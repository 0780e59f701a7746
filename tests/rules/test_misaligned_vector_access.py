"""CL102 against the hardware: what faulted on a GPU is found, and what ran is not."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cudalint.diagnostics import Diagnostic
from cudalint.host.values.arithmetic import I8
from cudalint.host.values.assumptions import evaluate_expression
from cudalint.host.values.graph import Graph
from cudalint.options.analysis import AnalysisOptions
from cudalint.options.expressions import parse_expression
from cudalint.registry import Selection
from cudalint.report.findings.merging import gather
from cudalint.report.findings.results import FileReport
from cudalint.run.analysis import analyse_file
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

_FOLDER = Path(__file__).parents[2] / "fixtures" / "misaligned-vector-access"
_MEASURED: Mapping[str, Any] = json.loads((_FOLDER / "measured.json").read_text(encoding="utf-8"))["kernels"]
_LAYOUT: Mapping[str, Any] = json.loads((_FOLDER / "layout.json").read_text(encoding="utf-8"))
_FAULT = "misaligned address"


@cache
def _findings(name: str) -> dict[str, list[Diagnostic]]:
    job = CheckJob(str(_FOLDER / name), AnalysisOptions(), Selection(("CL102",)), pictures=False)
    report = check_file(job)
    assert isinstance(report, FileReport)
    found: dict[str, list[Diagnostic]] = {}
    for diagnostic in gather([report]):
        found.setdefault(diagnostic.kernel, []).append(diagnostic)
    return found


def _predicted(kernel: str, k: int, h: int) -> str:
    """What the finding in a kernel says about these arguments."""
    if kernel not in _findings("measured.cu"):
        return "no error"
    (diagnostic,) = _findings("measured.cu")[kernel]
    if diagnostic.severity == "error":
        return _FAULT
    needed = re.search(r"needs `([^`]*)`", diagnostic.message)
    assert needed is not None, diagnostic.message
    graph = Graph()
    names = {"K": graph.const(k, I8), "H": graph.const(h, I8)}
    holds = evaluate_expression(graph, parse_expression(needed.group(1)), names)
    return "no error" if holds.value else _FAULT


@pytest.mark.parametrize("kernel", _MEASURED)
def test_the_hardware_agrees(kernel: str) -> None:
    predicted = [_predicted(kernel, run["K"], run["H"]) for run in _MEASURED[kernel]]
    assert predicted == [run["outcome"] for run in _MEASURED[kernel]]


def test_all_kernels_were_measured() -> None:
    kernels = re.findall(r"__global__ void (\w+)", (_FOLDER / "measured.cu").read_text(encoding="utf-8"))
    assert sorted(kernels) == sorted(_MEASURED)
    outcomes = [{run["outcome"] for run in runs} for runs in _MEASURED.values()]
    assert min(outcomes.count({_FAULT}), outcomes.count({"no error"}), outcomes.count({_FAULT, "no error"})) >= 8


@pytest.mark.parametrize("measured", _LAYOUT["shared"], ids=lambda entry: entry["declared"])
def test_shared_arrays_lie_where_they_were_measured(measured: Mapping[str, Any]) -> None:
    declarations = [text.strip() for text in measured["declared"].split(";") if text.strip()]
    names = [re.sub(r"\[.*", "", text).split()[-1] for text in declarations]
    body = "".join(
        f"{text.replace('extern ', 'extern __shared__ ') if 'extern' in text else '__shared__ ' + text};\n"
        for text in declarations
    )
    body += "".join(f"out[{i}] = reinterpret_cast<double2 *>(&{name})[0];\n" for i, name in enumerate(names))
    source = f"""
        __global__ void k(double2 *out) {{ {body} }}
        void launch(double2 *out) {{ k<<<1, 32, 64>>>(out); }}"""
    (kernel,) = analyse_file("k.cu", AnalysisOptions(unsaved=(("k.cu", source),))).kernels
    starts = dict(zip(names, (address - 1024 for address in measured["addresses"]), strict=True))
    expected = {name: start for name, start in starts.items() if start % 16}
    assert {found.array: found.base for found in kernel.misalignments} == expected
