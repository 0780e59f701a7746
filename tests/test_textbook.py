"""Faults that courses and textbooks teach, and their right versions: what somebody sees who runs the program as it is.

`textbook/program` has programs, which launch their kernels with sizes that are known; `textbook/library` has functions
and classes whose callers bring the sizes; the kernels of `textbook/kernel` are launched by nobody in sight. Beside
`NAME.cu`, with its faults, stands `NAME_right.cu`, in which nothing is found. What a fault is follows from the
programming guide and the hardware, and not from what the program can do.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

import cudalint
from cudalint.diagnostics import Diagnostic
from cudalint.testing import expectations_in

_FOLDER = Path(__file__).parent / "textbook"
_FAULTY = sorted(path for path in _FOLDER.glob("*/*.cu") if not path.stem.endswith("_right"))
_CONFIGURATION = cudalint.Configuration(cache=False, no_config=True, jobs=1)


class Fault(NamedTuple):
    file: str
    code: str
    """The rule's."""
    line: str
    """Of the source, without its comment."""


_NO_SIZE = "the rule tells nothing that depends on a size: all lanes come if it is a multiple of 32"
_NOT_SHOWN: dict[Fault, str] = {
    Fault("library/barriers.cu", "CL303", "__syncthreads();"): (
        "under 10% of the time where the grid is large: other blocks do what this one waits for"
    ),
    Fault("kernel/reductions.cu", "CL401", "if (tid % (2 * step) == 0) {"): (
        "48% of the instructions, none of the time: shared memory and latency are what is waited for; that requests of "
        "few lanes would be fewer if the lanes were together is not counted"
    ),
    Fault("kernel/warps.cu", "CL304", "unsigned ballot = __ballot_sync(0xffffffffu, in[i] > 0);"): _NO_SIZE,
}
"""Faults that are not shown yet, each with its cause. One that is shown has to leave the table."""


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _reports(faulty: Path, folder: Path) -> list[tuple[str, list[Diagnostic]]]:
    """Each of the two files' texts with what is told of it, as if it were alone: kernels of one name in one project
    might be one another's."""
    paths = []
    for path in (faulty, faulty.with_stem(f"{faulty.stem}_right")):
        own = folder / path.stem
        own.mkdir()
        paths.append(Path(shutil.copy(path, own)))
    found: dict[str, list[Diagnostic]] = {}
    for report in cudalint.Check(paths, _CONFIGURATION):
        assert not report.failures
        found[report.paths[0]] = list(report)
    return [(path.read_text(encoding="utf-8"), found[str(path)]) for path in paths]


def _places(diagnostic: Diagnostic) -> set[int]:
    """The lines that a finding names as its own: other places of one cause are told with it."""
    return {each.place.line for each in (diagnostic, *diagnostic.also)}


@pytest.mark.parametrize("faulty", _FAULTY, ids=_name)
def test_faults_are_shown_and_right_versions_are_silent(faulty: Path, tmp_path: Path) -> None:
    (source, found), (_, of_right) = _reports(faulty, tmp_path)
    lines = source.splitlines()
    missing, met = set(), set()
    for expected in expectations_in(source):
        own = [d for d in found if d.code == expected.code and expected.line in _places(d)]
        own = [d for d in own if expected.part in d.message]
        met.update(map(id, own))
        if not own:
            text = lines[expected.line - 1].partition("//")[0].strip()
            missing.add(Fault(_name(faulty), expected.code, text))
    known = {fault for fault in _NOT_SHOWN if fault.file == _name(faulty)}
    assert missing == known, "a fault is missing, or one is shown now that `_NOT_SHOWN` has"
    assert [_told(d) for d in found if id(d) not in met] == []
    assert [_told(d) for d in of_right] == []


def test_the_faults_are_many_and_of_all_kinds() -> None:
    """So that files which nobody reads any more are noticed."""
    counts: dict[str, int] = {}
    for path in _FAULTY:
        number = len(list(expectations_in(path.read_text(encoding="utf-8"))))
        counts[path.parent.name] = counts.get(path.parent.name, 0) + number
    assert set(counts) == {"program", "library", "kernel"}
    assert min(counts.values()) >= 30


def _told(diagnostic: Diagnostic) -> str:
    return f"line {diagnostic.place.line}: {diagnostic.code} {diagnostic.message}"
