"""Kernels of which nothing could be evaluated are counted, and fail a run that is asked to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple


class _Result(NamedTuple):
    status: int
    out: str


def _run(*arguments: str) -> _Result:
    command = [sys.executable, "-m", "cudalint", "check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return _Result(done.returncode, done.stdout)


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
