"""Verdicts on branches, set against the counters of a GPU that ran the same fixtures."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cudalint.facts import Branch, BranchResult
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_ROOT = Path(__file__).parents[2] / "fixtures"
_MEASURED = [
    path
    for path in sorted(_ROOT.glob("divergent-*/*.measured.json"))
    if "launches" in json.loads(path.read_text(encoding="utf-8"))
]
"""Those with the jumps of every line; `cudalint confirm --record` adds a member of its own."""


class Compared(NamedTuple):
    """A branch under one launch, and what was measured on its line; None where there is no conditional jump."""

    kernel: str
    branch: Branch
    result: BranchResult
    counters: dict[str, int] | None

    @property
    def predicted(self) -> bool:
        return self.result.verdict == "divergent" and self.result.compiled == "branch"

    @property
    def measured(self) -> bool:
        return self.counters is not None and self.counters["divergent"] > 0


@cache
def _compared(measured: Path) -> list[Compared]:
    source = measured.with_name(measured.name.replace(".measured.json", ".cu"))
    document = json.loads(measured.read_text(encoding="utf-8"))
    found = []
    for kernel in analyse_file(str(source), AnalysisOptions()).kernels:
        launches = [launch for launch in document["launches"] if launch["kernel"] == kernel.name]
        assert [tuple(launch["block"]) for launch in launches] == [launch.block for launch in kernel.launches]
        for branch in kernel.branches or ():
            if branch.inlined_from:
                # Several calls share the lines of a device function.
                continue
            for result in branch.results:
                counters = _on_line(launches[result.launch], branch.place.line)
                found.append(Compared(kernel.name, branch, result, counters))
    return found


def _on_line(launch: dict[str, Any], line: int) -> dict[str, int] | None:
    return next((counters for counters in launch["lines"] if counters["line"] == line), None)


@pytest.mark.parametrize("measured", _MEASURED, ids=lambda path: path.name)
def test_verdicts_are_those_of_the_hardware(measured: Path) -> None:
    wrong = [c for c in _compared(measured) if c.predicted != c.measured]
    assert wrong == []


@pytest.mark.parametrize("measured", _MEASURED, ids=lambda path: path.name)
def test_so_are_the_shares_of_warps(measured: Path) -> None:
    """Of a single jump, where nothing is peeled off and duplicated. Loops count their tests, not their visits."""
    compared = [
        c for c in _compared(measured) if c.counters and c.counters["jumps"] == 1 and c.branch.kind in ("if", "switch")
    ]
    assert compared
    for c in compared:
        assert c.counters is not None
        expected = c.counters["divergent"] / c.counters["executed"]
        assert c.result.divergent_warps == pytest.approx(expected, abs=0.01), c


def test_there_are_enough() -> None:
    everything = [c for measured in _MEASURED for c in _compared(measured) if c.counters is not None]
    assert len(everything) >= 50
    look_alikes = [c for c in everything if not c.measured and c.result.verdict == "warp-uniform"]
    assert len(look_alikes) >= 20
    # A model that calls everything divergent, or nothing, is wrong here more often than not.
    assert 0.3 < sum(c.measured for c in everything) / len(everything) < 0.7


def test_what_is_predicated_or_exits_is_not_counted() -> None:
    compared = [c for measured in _MEASURED for c in _compared(measured)]
    for compiled in ("predicated", "exit"):
        silent = [c for c in compared if c.result.compiled == compiled and c.result.verdict == "divergent"]
        assert silent
        assert not any(c.measured for c in silent)
