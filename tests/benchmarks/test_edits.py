"""Edits made in texts, and what counts as worse than before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import edits
import pytest

_BARRIER = edits.Edit("a.cu", 3, 5, 3, 5, "__syncthreads();\n    ")
_CHANGE = edits.Change((_BARRIER,), ("a.cu",), "a.cu:3: CL301", "put a barrier there")


def _finding(code: str, line: int, suggests: bool = False, **figures: float) -> dict[str, Any]:
    suggestion = {"edits": [edits.msgspec.to_builtins(_BARRIER)]} if suggests else None
    return {
        "code": code, "kernel": "k", "instantiation": "k", "path": "a.cu", "line": line, "column": 5,
        "message": "words", "severity": "error" if code == "CL301" else "info", "launches": [], "figures": figures,
        "variants": [], "suggestion": suggestion,
    }  # fmt: skip


def _linted(
    findings: list[dict[str, Any]], line: int = 4, wavefronts: float = 1.0, alone: float | None = None
) -> edits.Linted:
    result = {
        "launch": 0, "status": "exact", "reason": None, "sectors_per_request": None,
        "wavefronts_per_request": wavefronts, "ideal_sectors": None, "ideal_wavefronts": 1.0,
    }  # fmt: skip
    access = {
        "path": "a.cu", "line": line, "column": 9, "inlined_from": [], "operation": "load", "array": "t",
        "results": [result],
    }  # fmt: skip
    launch = {"block": [32, 1, 1], "grid": [1, 1, 1], "parameters": {}, "source": "launch-site"}
    kernel = {
        "path": "a.cu", "line": 1, "name": "k", "instantiation": "k", "launches": [launch], "accesses": [access],
    }  # fmt: skip
    made_up = launch | {"block": [256, 1, 1], "source": "default"}
    other = kernel | {
        "launches": [made_up], "accesses": [access | {"results": [result | {"wavefronts_per_request": alone}]}],
    }  # fmt: skip
    files = [{"kernels": [kernel]}, *([{"kernels": [other]}] if alone is not None else [])]
    return edits.Linted({"diagnostics": findings, "failures": []}, {"files": files})


_BEFORE = _linted([_finding("CL301", 3, suggests=True), _finding("CL201", 4)])


def test_what_stays_as_it_was_is_no_fault() -> None:
    assert edits.faults_of(_CHANGE, _BEFORE, _linted([_finding("CL201", 5)], 5)) == ([], [])


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (_linted([_finding("CL301", 4)], 5), "is still there"),
        (_linted([_finding("CL301", 9)], 5), "is new: CL301 at a.cu:9"),
        (_linted([], 5, wavefronts=2.0), "costs more: load of `t` at a.cu:5"),
        (_linted([], 4), "is no longer there: load of `t` at a.cu:5"),
    ],
)
def test_what_is_worse_is_said(after: edits.Linted, said: str) -> None:
    faults, _ = edits.faults_of(_CHANGE, _BEFORE, after)
    assert [fault[: len(said)] for fault in faults] == [said]


def test_what_is_new_but_milder_is_told_apart() -> None:
    faults, milder = edits.faults_of(_CHANGE, _BEFORE, _linted([_finding("CL201", 5), _finding("CL303", 4)], 5))
    assert not faults
    assert len(milder) == 1


@pytest.mark.parametrize(("ways", "faults"), [(2.0, 0), (4.0, 1), (5.0, 1)])
def test_a_finding_may_stay_with_a_lower_figure(ways: float, faults: int) -> None:
    before = _linted([_finding("CL301", 3, suggests=True, ways=4.0)])
    assert len(edits.faults_of(_CHANGE, before, _linted([_finding("CL301", 4, ways=ways)], 5))[0]) == faults


def test_columns_count_bytes_and_edits_of_a_text_do_not_move_each_other() -> None:
    both = [edits.Edit("a.cu", 1, 11, 1, 13, "[33]"), edits.Edit("a.cu", 2, 1, 3, 1, "")]
    assert edits.edited("/* ü */ a[] b\nc\nd".encode(), both) == "/* ü */ a[33] b\nd".encode()


def test_the_original_is_never_written(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.cu").write_text("a\nb\n    c\n")
    checkout = edits.Checkout(root, tmp_path / "scratch")
    with checkout.with_edits((_BARRIER,)):
        assert (checkout.root / "a.cu").read_text() == "a\nb\n    __syncthreads();\n    c\n"
        assert (root / "a.cu").read_text() == "a\nb\n    c\n"
    assert (checkout.root / "a.cu").read_text() == "a\nb\n    c\n"


def test_a_header_is_linted_through_what_includes_it(tmp_path: Path) -> None:
    for name, text in {"k/a.cuh": "", "k/b.cuh": '#include "a.cuh"', "m.cu": "#include <k/b.cuh>", "o.cu": ""}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert edits.Includers(tmp_path).sources("k/a.cuh") == ["m.cu"]


def test_a_finding_is_no_news_where_its_line_cost_as_much_before() -> None:
    before = _linted([_finding("CL301", 3, suggests=True)], wavefronts=2.0)
    after = _linted([_finding("CL201", 5, wavefronts_per_request=2.0) | {"severity": "error"}], 5, wavefronts=2.0)
    faults, milder = edits.faults_of(_CHANGE, before, after)
    assert not faults
    assert len(milder) == 1


def test_a_launch_that_is_made_up_does_not_count_where_another_file_launches() -> None:
    before, after = _linted(_FOUND, alone=1.0), _linted([], 5, alone=2.0)
    assert edits.faults_of(_CHANGE, before, after) == ([], [])


_FOUND = [_finding("CL301", 3, suggests=True)]
