"""What findings cost: their excess, and what of the time goes without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.engine import CheckJob, check_file
from cudalint.options import AnalysisOptions
from cudalint.registry import Selection
from cudalint.results import FileReport

_COLUMNS = """
__global__ void k(const float* a, float* b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[32 * i];
}
void run(float* a, float* b) { k<<<4096, 256>>>(a, b); }
"""


def test_excess_of_a_strided_load(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(_COLUMNS)
    job = CheckJob(str(path), AnalysisOptions(), Selection(("CL101",)), pictures=False, tells_costs=True)
    report = check_file(job)
    assert isinstance(report, FileReport)
    [finding] = report.diagnostics
    cost = finding.cost
    assert cost is not None
    # 2^15 warps: 32 sectors where 4 would do, beside 4 that each stores.
    assert cost.sectors == pytest.approx((32 - 4) << 15)
    assert cost.wavefronts == 0
    assert cost.traffic_share == pytest.approx(28 / 36)
    # Of 36 sectors, 8 are left: the kernel waits for memory, so that most of its time goes.
    assert cost.limiter in ("dram", "l2")
    assert cost.share is not None
    assert cost.share > 0.5
