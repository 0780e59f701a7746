"""Annotations that are of no use are findings (CL903), unless what they name may stand where nobody looked."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

_KERNEL = "__global__ void scale(float *a, int n) { a[blockIdx.x * n + threadIdx.x] *= 2; }\n"
_LAUNCH = "void run(float *a, int n) { scale<<<n, 128>>>(a, n); }\n"


def _complaints(tmp_path: Path, text: str, name: str = "scale.cu") -> list[tuple[str, int, str]]:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    report = check_file(CheckJob(str(path), AnalysisOptions(), Selection(("CL903",)), pictures=False))
    assert isinstance(report, FileReport)
    return [(d.code, d.place.line, d.message) for d in report.diagnostics]


@pytest.mark.parametrize(
    ("annotation", "rest", "message"),
    [
        ("// cudalint: assume(q % 4 == 0)", _LAUNCH, "`assume(q % 4 == 0)` could not be evaluated: `q` is not known"),
        ("// cudalint: launch(block = q)", "", "the launch that is annotated could not be evaluated: `q` is not known"),
        ("// cudalint: launch(block = 256)", _LAUNCH, "counts, and this `launch` does not"),
        ("// cudalint assume(n % 4 == 0)", _LAUNCH, "a colon is missing: `cudalint: assume(...)`"),
        ("/* cudalint launch(block = 256) */", "", "a colon is missing: `cudalint: launch(...)`"),
    ],
)
def test_of_no_use(tmp_path: Path, annotation: str, rest: str, message: str) -> None:
    ((code, line, found),) = _complaints(tmp_path, f"{annotation}\n{_KERNEL}{rest}")
    assert (code, line) == ("CL903", 1)
    assert message in found


@pytest.mark.parametrize(
    ("annotation", "rest"),
    [
        ("// cudalint: assume(n % 4 == 0)", _LAUNCH),
        ("// cudalint: launch(block = 256)", ""),
        # Words about the program.
        ("// cudalint assumes a block of (256) here, and cudalint allow(s) it", ""),
        ("// what cudalint launch(...) says", ""),
        # It may be in the header that is not found.
        ('#include "sizes_that_are_not_here.h"\n// cudalint: assume(q % 4 == 0)', _LAUNCH),
    ],
)
def test_of_use(tmp_path: Path, annotation: str, rest: str) -> None:
    assert _complaints(tmp_path, f"{annotation}\n{_KERNEL}{rest}") == []


def test_a_launch_in_a_header_may_be_for_another_file(tmp_path: Path) -> None:
    (tmp_path / "scale.cuh").write_text(f"// cudalint: launch(block = 256)\n{_KERNEL}", encoding="utf-8")
    assert _complaints(tmp_path, f'#include "scale.cuh"\n{_LAUNCH}', "run.cu") == []
