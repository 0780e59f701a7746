"""A kernel of a header is evaluated once for all files that include it, unless something differs that has a say."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob
from cudalint.run.kernel_analysis import KernelAnalysis
from cudalint.run.sharing import sharing
from cudalint.system.disk import recorder as disk

HEADER = """
#pragma once
#ifndef WIDTH
#define WIDTH 32
#endif
struct Row { MEMBERS float v; };
const int shift = SHIFT;
__device__ int column(int x) { return x * STEP + shift; }
template <int N> __global__ void sum(Row *out, const float *in, int n) {
    __shared__ float tile[32][WIDTH];
    for (int i = 0; i < n; i++)
        tile[threadIdx.x][threadIdx.y] += in[column(threadIdx.y * N + threadIdx.x)];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x].v = tile[threadIdx.x][threadIdx.y];
}
inline void go(Row *out, const float *in, int n) { sum<SIDE><<<n, dim3(32, 32)>>>(out, in, n); }
"""
SAID = {"SHIFT": "0", "STEP": "1", "MEMBERS": "", "SIDE": "32"}


def _source(before: str = "", size: str = "64", **said: str) -> str:
    macros = "".join(f"#define {name} {value}\n" for name, value in {**SAID, **said}.items())
    return f'{before}{macros}#include "sum.h"\nint main() {{ Row *a = 0; float *b = 0; go(a, b, {size}); }}\n'


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """The names of kernels, as they are evaluated, in a folder with the header and a first file."""
    names: list[str] = []
    facts = KernelAnalysis.facts

    def noted(self: KernelAnalysis) -> object:
        names.append(self.function.name)
        return facts(self)

    monkeypatch.setattr(KernelAnalysis, "facts", noted)
    monkeypatch.chdir(tmp_path)
    for folder in ("one", "two"):
        os.makedirs(folder)
    Path("sum.h").write_text(HEADER)
    Path("one/a.cu").write_text(_source())
    return names


def _lint(path: str, kept: str | None = "kept") -> FileReport:
    disk.forget()
    job = CheckJob(path, AnalysisOptions(include_dirs=(".",)), Selection(("ALL",)), pictures=True, shows_kernels=True)
    with sharing(kept, b""):
        report = check_file(job)
    assert isinstance(report, FileReport)
    return report


def _told(report: FileReport) -> str:
    return "\n".join(map(repr, (report.diagnostics, report.kernels, report.coverage, report.parameters)))


def test_what_is_the_same_is_evaluated_once(evaluated: list[str]) -> None:
    Path("two/b.cu").write_text("// another file\n" + _source())
    first = _lint("one/a.cu")
    assert any(diagnostic.code == "CL201" for diagnostic in first.diagnostics)
    count = len(evaluated)
    assert count
    with disk.noting() as noted:
        second = _lint("two/b.cu")
    assert len(evaluated) == count
    assert _told(second) == _told(_lint("two/b.cu", kept=None))
    assert len(evaluated) > count
    assert any(path.endswith("sum.h") for path in noted.texts)


@pytest.mark.parametrize(
    "source",
    [
        _source("#define WIDTH 33\n"), _source(STEP="2"), _source(SHIFT="1"), _source(MEMBERS="int n;"),
        _source(SIDE="64"), _source(size="8"),
    ],
    ids=["an array", "a function", "a constant", "a record", "an instance", "an argument"],
)  # fmt: skip
def test_what_differs_is_evaluated(evaluated: list[str], source: str) -> None:
    Path("two/b.cu").write_text(source)
    _lint("one/a.cu")
    evaluated.clear()
    second = _lint("two/b.cu")
    assert evaluated
    assert _told(second) == _told(_lint("two/b.cu", kept=None))


def _of_other_options() -> None:
    Path("sum.h").write_text(HEADER.replace("void sum(", "void sum(  "))


def _damaged() -> None:
    for path in Path("kept").rglob("*.result"):
        path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize("change", [_of_other_options, _damaged], ids=["its text", "the entry"])
def test_what_is_kept_counts_as_it_was_written(evaluated: list[str], change: Callable[[], None]) -> None:
    _lint("one/a.cu")
    evaluated.clear()
    change()
    report = _lint("one/a.cu")
    assert evaluated
    assert _told(report) == _told(_lint("one/a.cu", kept=None))


def test_edits_are_tried_on_other_code(evaluated: list[str]) -> None:
    """The kernel with an edit is not the one that was kept."""
    alone = _lint("one/a.cu", kept=None)
    assert _told(_lint("one/a.cu")) == _told(alone)
    assert _told(_lint("one/a.cu")) == _told(alone)
