"""Every prediction for a fixture against what a GPU measured of it (`cudalint confirm --record`)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cudalint.confirm.holding import differences
from cudalint.confirm.preparing import Prepared, PrepareJob, prepare
from cudalint.confirm.recording import recorded
from cudalint.options.analysis import AnalysisOptions, ParameterValue

_ROOT = Path(__file__).parent.parent / "fixtures"
_FIXTURES = [path for path in sorted(_ROOT.glob("*/*.cu")) if recorded(str(path)) is not None]
_ACCESSES = ("sectors", "wavefronts")


def _explained(path: Path) -> list[set[int]]:
    """For each comment `differs: ...` the lines that it speaks of: its own, or the next line of code."""
    lines = path.read_text(encoding="utf-8").split("\n")
    found: list[set[int]] = []
    for index, line in enumerate(lines):
        if "// differs:" in line:
            code = next(n for n in range(index, len(lines)) if not lines[n].lstrip().startswith("//"))
            found.append({code + 1})
    return found


def _sizes(record: Mapping[str, Any]) -> tuple[ParameterValue, ...]:
    """The sizes that nothing in sight says, which the kernels ran with: others would be as good for a prediction, but
    would make other grids."""
    found: dict[tuple[str, str], set[str]] = {}
    for launch in record.get("launches", ()):
        for assumed in launch["assumed"]:
            name, _, value = assumed.partition(" = ")
            if name.isidentifier():
                found.setdefault((launch["kernel"].partition("<")[0], name), set()).add(value)
    return tuple(ParameterValue(*name, *values) for name, values in found.items() if len(values) == 1)


@pytest.mark.parametrize("path", _FIXTURES, ids=lambda path: str(path.relative_to(_ROOT)))
def test_predictions_are_what_was_measured(path: Path) -> None:
    record = recorded(str(path)) or {}
    prepared = prepare(PrepareJob(str(path), AnalysisOptions(params=_sizes(record)), "unused"))
    assert isinstance(prepared, Prepared)
    found = list(differences(prepared.candidates, record))
    explained = _explained(path)
    left = [d for d in found if not any(_line(d) in lines for lines in explained)]
    assert left == [], "was another version measured? `cudalint confirm --record` on a GPU, or drop the kernel's rows"
    assert all(any(_line(d) in lines for d in found) for lines in explained), "an explanation of nothing"


def _line(difference: str) -> int:
    return int(difference.removeprefix("line ").partition(",")[0])


def _sites() -> list[tuple[str, str]]:
    """One for each access that a GPU measured under a launch, with its verdict."""
    return [
        (f"{path}:{row['line']}:{row['kernel']}:{row['block']}:{row['subject']}", row["verdict"])
        for path in _FIXTURES
        for row in (recorded(str(path)) or {"rows": ()})["rows"]
        if row["quantity"] in _ACCESSES and row["verdict"] != "not measured"
    ]


def test_there_are_enough() -> None:
    sites = _sites()
    assert len(sites) >= 250
    assert sum(verdict == "equal" for _, verdict in sites) >= 0.98 * len(sites)


def test_suggestions_brought_what_they_promised() -> None:
    fixes = [fix for path in _FIXTURES for fix in (recorded(str(path)) or {"fixes": ()})["fixes"]]
    worth = [
        fix
        for fix in fixes
        if fix["quantity"] == "wavefronts" and fix["outputs"] == "identical"
        and fix["after"] == fix["ideal"] < fix["before"]
        and fix["milliseconds_after"] < fix["milliseconds_before"]
    ]
    assert len({fix["kernel"] for fix in worth}) >= 10
