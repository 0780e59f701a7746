"""The edit that adds up the values of a warp before one of its lanes makes the atomic."""

from __future__ import annotations

import pytest

from cudalint.diagnostics import Diagnostic
from cudalint.driver.file_findings import CheckJob, check_file
from cudalint.findings.results import FileReport
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.remedies.edits import apply_edits

# 1024 blocks of 256 threads are 262144 atomics on one address, of which 8192 are left.
_SOURCE = """__global__ void total(const float *in, float *sum, int n) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    {statements}
}}
void run(const float *in, float *sum, int n) {{ total<<<1024, {block}>>>(in, sum, n); }}
"""


def _found(statements: str, block: str = "256") -> tuple[str, Diagnostic]:
    source = _SOURCE.format(statements=statements, block=block)
    options = AnalysisOptions(unsaved=(("a.cu", source),))
    report = check_file(CheckJob("a.cu", options, Selection(("CL109",)), pictures=False))
    assert isinstance(report, FileReport)
    return source, report.diagnostics[0]


@pytest.mark.parametrize(
    ("block", "lane"),
    [
        ("256", "threadIdx.x"),
        ("dim3(8, 8, 4)", "(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))"),
    ],
)
def test_one_lane_adds_for_all(block: str, lane: str) -> None:
    source, found = _found("atomicAdd(&sum[3], in[i] * 2);", block)
    assert found.suggestion is not None
    edited = apply_edits(source, found.suggestion.edits)
    assert "float warp_sum = in[i] * 2;" in edited
    assert f"if ({lane} % 32 == 0)\n            atomicAdd(&sum[3], warp_sum);" in edited
    # Floats are added in another order.
    assert found.suggestion.applicability == "unsafe"


@pytest.mark.parametrize(
    ("statements", "block", "reason"),
    [
        # The last warp of the array may lack lanes, which a shuffle would wait for.
        ("if (i < n) atomicAdd(sum, in[i]);", "256", "threads may be missing at line 3"),
        ("if (i >= n) return; atomicAdd(sum, in[i]);", "256", "threads may be missing at line 3"),
        ("float before = atomicAdd(sum, in[i]); sum[i + 1] = before;", "256", "is not a plain|threads may be missing"),
        ("atomicAdd(sum, in[i]);", "240", "the last warp of a block of `total` lacks lanes"),
    ],
)
def test_who_may_lack_lanes_says_so(statements: str, block: str, reason: str) -> None:
    _, found = _found(statements, block)
    assert found.suggestion is not None and not found.suggestion.edits
    assert any(part in found.no_edit for part in reason.split("|"))
