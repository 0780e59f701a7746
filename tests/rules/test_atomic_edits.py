"""The edit that adds up the values of a warp before one of its lanes makes the atomic."""

from __future__ import annotations

import pytest

from cudalint.diagnostics import Diagnostic
from cudalint.fixes.edits import apply_edits
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

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


def test_where_lanes_are_missing_those_that_come_make_a_group() -> None:
    """The last warp of a block of 240 has 16 lanes, and a shuffle would wait for 32."""
    source, found = _found("atomicAdd(sum, in[i]);", "240")
    assert found.suggestion is not None
    edited = apply_edits(source, found.suggestion.edits)
    assert edited.startswith("#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n__global__")
    assert "cooperative_groups::reduce(lanes, float(in[i]), cooperative_groups::plus<float>());" in edited
    assert found.suggestion.applicability == "unsafe"


@pytest.mark.parametrize(
    ("statements", "reason"),
    [
        ("float before = atomicAdd(sum, in[i]); sum[i + 1] = before;", "is not a plain `atomicAdd`"),
        ("atomicAdd(sum++, in[i]);", "not as plain as an address and a value"),
    ],
)
def test_what_is_spelled_otherwise_says_so(statements: str, reason: str) -> None:
    _, found = _found(statements)
    assert found.suggestion is not None and not found.suggestion.edits
    assert reason in found.no_edit
