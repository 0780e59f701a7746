"""Launches of kernels that a function is given: they are where the kernel is handed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run.analysis import analyse_file
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

_HEADER = """\
#pragma once
struct Sizes { dim3 grid, block; };
template <typename Kernel, typename... Args>
static inline void launch(Kernel kernel, const Sizes &sizes, Args &&...args)
{
    kernel<<<sizes.grid, sizes.block>>>(static_cast<Args &&>(args)...);
}
template <typename Kernel, typename... Args>
static inline void launch_again(Kernel &&kernel, Args &&...args)
{
    auto now = [&] { launch(kernel, static_cast<Args &&>(args)...); };
    now();
}
"""
_KERNEL = """\
#include "launch.cuh"
template <int N> __global__ void scale(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= N; }
"""


def _file(folder: Path, host: str) -> Path:
    (folder / "launch.cuh").write_text(_HEADER)
    path = folder / "scale.cu"
    path.write_text(_KERNEL + host)
    return path


@pytest.mark.parametrize("name", ["launch", "launch_again"])
def test_a_launch_is_where_its_kernel_is_handed_over(tmp_path: Path, name: str) -> None:
    """Not in the header, and not where that which hands it over is called."""
    host = (
        "static void twice(float *x, Sizes sizes)\n{\n"
        f"    {name}(scale<2>, sizes, x);\n    {name}(scale<2>, Sizes{{8, 64}}, x);\n}}\n"
        "void run(float *x) { twice(x, {4, 2048}); }\n"
    )
    path = _file(tmp_path, host)
    (kernel,) = analyse_file(str(path), AnalysisOptions()).kernels
    assert [(launch.path, launch.line) for launch in kernel.launches] == [(str(path), 5), (str(path), 6)]
    job = CheckJob(str(path), AnalysisOptions(), Selection(("CL502",)), pictures=False, shows_kernels=False)
    report = check_file(job)
    assert isinstance(report, FileReport)
    (finding,) = report.diagnostics
    assert (finding.place.path, finding.place.line) == (str(path), 5)


def test_a_launch_that_names_its_kernel_is_where_it_stands(tmp_path: Path) -> None:
    """Whoever calls the function around it, and whatever that is given beside."""
    host = (
        "static void own(void (*)(float *), float *x)\n{\n    scale<3><<<8, 64>>>(x);\n}\n"
        "void run(float *x) { own(scale<2>, x); }\n"
    )
    path = _file(tmp_path, host)
    kernels = {kernel.instantiation: kernel for kernel in analyse_file(str(path), AnalysisOptions()).kernels}
    assert [launch.line for launch in kernels["scale<3>"].launches] == [5]
