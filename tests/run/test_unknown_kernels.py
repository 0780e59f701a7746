"""Kernels of which nothing could be evaluated are counted, and fail a run that is asked to."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest


class _Result(NamedTuple):
    status: int
    out: str
    err: str


def _run(*arguments: str) -> _Result:
    command = [sys.executable, "-m", "cudalint", "check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return _Result(done.returncode, done.stdout, done.stderr)


def test_kernels_of_which_nothing_is_known(tmp_path: Path) -> None:
    source = tmp_path / "hidden.cu"
    source.write_text("__device__ float *elsewhere();\n__global__ void hidden() { elsewhere()[threadIdx.x] = 1; }\n")
    result = _run(str(source), "--fail-on", "error")
    assert result.status == 0
    assert "(0 of 1 access evaluated); nothing could be evaluated of 1 kernel" in result.out
    assert _run(str(source), "--fail-on", "error", "--fail-on-incomplete").status == 1
    empty = tmp_path / "empty.cu"
    empty.write_text("__global__ void empty() {}\n")
    result = _run(str(empty), "--fail-on", "error", "--fail-on-incomplete")
    assert result.status == 0
    assert "nothing could be evaluated" not in result.out


_HIDDEN = "__device__ float *elsewhere();\n__global__ void hidden() { elsewhere()[threadIdx.x] = 1; }\n"


@pytest.mark.parametrize("shown", [("--format", "json"), ("--format", "concise"), ("--statistics",), ("-q",), ()])
def test_a_run_that_fails_for_them_names_them(tmp_path: Path, shown: tuple[str, ...]) -> None:
    source = tmp_path / "hidden.cu"
    source.write_text(_HIDDEN)
    result = _run(str(source), "--fail-on", "error", "--fail-on-incomplete", *shown)
    (line,) = [line for line in result.err.splitlines() if "--fail-on-incomplete" in line]
    assert result.status == 1
    assert f"nothing could be evaluated of hidden ({source}:2);" in line
    forgiven = _run(str(source), "--fail-on", "error", "--fail-on-incomplete", "--exit-zero", *shown)
    assert (forgiven.status, "--fail-on-incomplete" in forgiven.err) == (0, False)


def test_one_that_is_put_up_with_fails_no_run(tmp_path: Path) -> None:
    source, known = tmp_path / "hidden.cu", str(tmp_path / "known.json")
    source.write_text(_HIDDEN)
    assert _run(str(source), "--write-baseline", known, "--fail-on-incomplete").status == 0
    assert _run(str(source), "--baseline", known, "--fail-on-incomplete", "-q") == (0, "", "")
    source.write_text(_HIDDEN + _HIDDEN.replace("elsewhere", "unheard").replace("hidden", "more"))
    more = _run(str(source), "--baseline", known, "--fail-on-incomplete")
    assert (more.status, "hidden (" in more.err, f"more ({source}:4)" in more.err) == (1, False, True)
    allowed = "// cudalint: allow(CL902) -- a library's\n"
    source.write_text(_HIDDEN.replace("__global__", f"{allowed}__global__"))
    assert _run(str(source), "--fail-on-incomplete").status == 0


def test_a_baseline_that_knows_of_a_part_knows_nothing_of_the_whole(tmp_path: Path) -> None:
    """A kernel of which an access was evaluated when the baseline was written, and nothing is now."""
    source, known = tmp_path / "hidden.cu", str(tmp_path / "known.json")
    # Gaps that nobody can close are told of a file with a kernel of which nothing was evaluated.
    in_part = _HIDDEN.replace("hidden() {", "hidden(float *a) { a[threadIdx.x] = 1;")
    in_part += "__global__ void more() { elsewhere()[threadIdx.x] = 1; }\n"
    source.write_text(in_part)
    _run(str(source), "--write-baseline", known)
    assert [found["kernel"] for found in json.loads(Path(known).read_text())["findings"]] == ["hidden", "more"]
    source.write_text(in_part.replace("a[threadIdx.x] = 1;", ""))
    result = _run(str(source), "--baseline", known, "--fail-on-incomplete")
    assert (result.status, "hidden (" in result.err, "more (" in result.err) == (1, True, False)
