"""What compute-sanitizer's racecheck and synccheck said of the fixtures on a GPU, against what is predicted.

Each record stands beside its fixture. Where the tool and the prediction differ, the record says why.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_ROOT = Path(__file__).parent.parent
_RECORDS = sorted(_ROOT.glob("fixtures/*/*.sanitizer.json"))
_LEAST = 20
"""Fixtures that were to be run."""


def _cases() -> list[Any]:
    return [
        pytest.param(record, name, answer, id=f"{record.parent.name}-{name}")
        for record in _RECORDS
        for name, answer in json.loads(record.read_text())["kernels"].items()
    ]


@pytest.fixture(scope="module")
def kernels() -> dict[tuple[Path, str], KernelFacts]:
    found = {}
    for record in _RECORDS:
        source = record.with_name(record.name.removesuffix(".sanitizer.json") + ".cu")
        for kernel in analyse_file(str(source), AnalysisOptions()).kernels:
            found[record, kernel.name] = kernel
    return found


def test_enough_were_run() -> None:
    assert len(_cases()) >= _LEAST


@pytest.mark.parametrize(("record", "name", "answer"), _cases())
def test_races(
    record: Path, name: str, answer: dict[str, Any], kernels: dict[tuple[Path, str], KernelFacts]
) -> None:
    """racecheck looks at shared memory; hazards within a warp are its warnings."""
    races = [race for race in kernels[record, name].races or () if race.space == "shared"]
    predicted = any(race.certainty == "certain" for race in races)
    hazards = answer["optimised"]["racecheck"]
    measured = bool(hazards and hazards["errors"] + hazards["warnings"])
    assert predicted == measured or "explained" in answer
    if predicted and measured:
        between_warps = any(race.certainty == "certain" and race.reach == "block" for race in races)
        assert between_warps == bool(hazards["errors"])


@pytest.mark.parametrize(("record", "name", "answer"), _cases())
def test_barriers(
    record: Path, name: str, answer: dict[str, Any], kernels: dict[tuple[Path, str], KernelFacts]
) -> None:
    """A barrier that synccheck objects to, or at which the kernel hangs, is called divergent; others that are called so
    say why the tool does not object."""
    barriers = kernels[record, name].barriers or ()
    predicted = any(result.verdict == "divergent" for b in barriers for result in b.results if not result.returned)
    builds = (answer["optimised"], answer["debug"])
    measured = any(b["hangs"] or (b["synccheck"] and b["synccheck"]["errors"]) for b in builds)
    assert predicted or not measured
    assert predicted == measured or "explained" in answer
