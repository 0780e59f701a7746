"""Launches in code that conditions leave out, and in files of other folders of a project."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import LaunchFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file
from cudalint.source.conditions import with_launches_left_out

_KERNEL = "__global__ void fill(float *a, int n) { a[blockIdx.x * blockDim.x + threadIdx.x] = n; }\n"
_LAUNCH = "void run(float *a, int n) { fill<<<n / 96, 96>>>(a, n); }\n"


def _launch(tmp_path: Path, texts: dict[str, str]) -> LaunchFacts:
    """Of the kernel in the first of the files."""
    (tmp_path / ".git").mkdir(exist_ok=True)
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    [kernel] = analyse_file(str(tmp_path / next(iter(texts))), AnalysisOptions()).kernels
    [launch] = kernel.launches
    return launch


@pytest.mark.parametrize(
    "host",
    [
        f"#ifdef WITH_GPU\n{_LAUNCH}#endif\n",
        f"#ifndef __CUDACC__\n{_LAUNCH}#endif\n",
        ("void run(float *a, int n) {\n#if defined(GPU) && !defined(OLD)\n  const int t = 96;\n  if (n) {\n"
         "    fill<<<n / t, t>>>(a, n);\n#else\n  if (a) {\n    a[0] = 1;\n#endif\n  }\n}\n"),
        f"#ifdef WITH_GPU\n#ifdef MORE\n{_LAUNCH}#else\nvoid run() {{ fill<<<1, 32>>>(0, 0); }}\n#endif\n#endif\n",
    ],
)
def test_what_conditions_leave_out_shows_a_launch(tmp_path: Path, host: str) -> None:
    launch = _launch(tmp_path, {"a.cu": _KERNEL + host})
    assert (launch.block, launch.source) == ((96, 1, 1), "launch-site")


@pytest.mark.parametrize("host", [f"#if 0\n{_LAUNCH}#endif\n", f"#if 0  // was: {_LAUNCH}#endif\n"])
def test_what_is_for_nobody_shows_none(tmp_path: Path, host: str) -> None:
    assert _launch(tmp_path, {"a.cu": _KERNEL + host}).source == "default"


def test_a_branch_stands_in_place_of_the_one_that_is_compiled() -> None:
    lines = ["#ifdef A", "k<<<1, 1>>>();", "#elif 1", "none();", "#endif", "#if B", "x<<<1, 1>>>();", "#endif"]
    # Compiled are lines 4 and, as B holds, 7.
    assert with_launches_left_out(lines, [(1, 3)]) == [
        "#ifdef A", "k<<<1, 1>>>();", "", "", "", "#if B", "x<<<1, 1>>>();", "#endif",
    ]  # fmt: skip
    assert with_launches_left_out(lines[:5], [(3, 5)]) is None


@pytest.mark.parametrize(
    "including",
    ['#include "../../include/lib/fill.cuh"\n', "#include <lib/fill.cuh>\n", "__global__ void fill(float *, int);\n"],
)
def test_a_header_s_kernel_is_launched_in_another_folder(tmp_path: Path, including: str) -> None:
    header = "#pragma once\n" + _KERNEL
    launch = _launch(tmp_path, {"include/lib/fill.cuh": header, "csrc/ops/run.cu": including + _LAUNCH})
    assert (launch.block, launch.source, launch.line) == ((96, 1, 1), "launch-site", 2)
    assert launch.path == str(tmp_path / "csrc/ops/run.cu")


def test_another_kernel_of_the_name_is_none(tmp_path: Path) -> None:
    texts = {"include/fill.cuh": _KERNEL, "csrc/ops/run.cu": _KERNEL + _LAUNCH}
    assert _launch(tmp_path, texts).source == "default"
