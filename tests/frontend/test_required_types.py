"""What a template that nothing instantiates requires of its types, which takes C++20."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

_TEMPLATE = """#include <concepts>
#include <cuda_fp16.h>
#include <type_traits>
template <typename T> %s
__global__ void every_second(T *out, int n) %s
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[2 * i] = T();
}
"""


@pytest.mark.parametrize(
    ("requirement", "bytes_"),
    [
        ("requires std::is_same_v<T, half>", 2),
        ("requires std::same_as<T, half> || std::same_as<T, short>", 2),
        ("requires (sizeof(T) == 8)", 8),
        ("requires (!std::is_same_v<T, half>)", 4),
        ("requires std::is_integral_v<T>", 4),
        ("", 4),
    ],
)
@pytest.mark.parametrize("is_behind", [False, True])
def test_size(tmp_path: Path, requirement: str, bytes_: int, is_behind: bool) -> None:
    """Every second of 64 elements in a row lies in 64 * size / 32 sectors, of which half would hold them."""
    path = tmp_path / "k.cu"
    path.write_text(_TEMPLATE % (("", requirement) if is_behind else (requirement, "")))
    report = check_file(CheckJob(str(path), AnalysisOptions(std="c++20"), Selection(("CL101",)), pictures=False))
    assert isinstance(report, FileReport), report
    (finding,) = report.diagnostics
    assert finding.figures["sectors_per_request"] == 64 * bytes_ / 32
    assert finding.figures["ideal_sectors"] == 32 * bytes_ / 32
