"""Constants that a file declares and another one of its program defines."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_KERNEL = """
extern const int blocks, threads, pitch;
extern __constant__ int strides[];
extern int rows;
__global__ void k(float *x, float *y, int n) {
    if (threadIdx.x < n) x[threadIdx.x * strides[1]] = y[threadIdx.x * pitch];
}
void run(float *x, float *y) { k<<<blocks, threads>>>(x, y, rows); }
"""
_OTHERS = {
    "sizes.cpp": "extern const int threads, pitch;\nconst int threads = 64, pitch{3}; int rows = 5;\n"
    "extern const int blocks;\nconst int blocks = 2 * threads; // no == in it\n",
    "tables.cu": "extern __constant__ int strides[];\n__constant__ int strides[] = {1, 2, 4};\n",
}


def _kernel(folder: Path, others: dict[str, str]) -> KernelFacts:
    (folder / "k.cu").write_text(_KERNEL)
    for name, text in others.items():
        (folder / name).write_text(text)
    (kernel,) = analyse_file(str(folder / "k.cu"), AnalysisOptions()).kernels
    return kernel


def test_they_have_the_values_of_the_other_file(tmp_path: Path) -> None:
    """Two floats or 8 bytes apart, four of 32 lanes share a sector; 12 bytes apart, they touch 31 * 12 + 4 bytes."""
    kernel = _kernel(tmp_path, _OTHERS)
    (launch,) = kernel.launches
    assert (launch.block, launch.grid, launch.assumptions) == ((64, 1, 1), (128, 1, 1), ())
    found = {access.array: access.results[0].sectors_per_request for access in kernel.accesses if access.array != "n"}
    assert {name: found[name] for name in ("x", "y")} == {"x": 8, "y": 12}
    # What is no constant may be anything by then.
    assert "n" not in launch.parameters


def test_so_do_those_that_another_file_launches_with(tmp_path: Path) -> None:
    text = "extern __global__ void e(float *x); extern const int width;\nvoid f(float *x) { e<<<8, width>>>(x); }\n"
    (tmp_path / "main.cu").write_text(text)
    kernel = "__global__ void e(float *x) { x[threadIdx.x] = 0; }\nextern const int width;\nconst int width = 96;\n"
    (tmp_path / "e.cu").write_text(kernel)
    (facts,) = analyse_file(str(tmp_path / "e.cu"), AnalysisOptions()).kernels
    assert [launch.block for launch in facts.launches] == [(96, 1, 1)]


@pytest.mark.parametrize(
    "other",
    [
        "const int threads = 64;",  # It is that file's own.
        "int threads = 64;",
        "namespace other { extern const int threads; const int threads = 64; }",
        "extern const int threads;\nint f() { return threads == 64; }",
    ],
)
def test_others_of_the_name_are_none(tmp_path: Path, other: str) -> None:
    (launch,) = _kernel(tmp_path, {"other.cu": other}).launches
    assert launch.block_is_made_up
