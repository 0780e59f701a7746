"""Cost agrees with itself: a share follows from the times with and without the excess, and is the same in every run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from cudalint.facts import Excess, FindingCost, LaunchCost
from cudalint.hardware.cost.findings import cost_of_all, finding_cost
from cudalint.hardware.cost.machine import machine_of
from cudalint.hardware.cost.model import estimate
from cudalint.hardware.cost.of_findings import with_cost
from cudalint.hardware.targets import find_target
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run.analysis import analyse_file
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

_ROWS = """
__global__ void sums(const float *x, float *y, int n, int m) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float s = 0;
  for (int j = 0; j < m; j++) s += x[row * m + j];
  y[row] = s;
}
"""
_STRIDED = """
__global__ void strided(const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i * 4 < n) y[i * 4] = x[i * 4];
}
"""
_LAUNCHES = """
void run(int n, int m) {
  float *x, *y;
  cudaMalloc(&x, 1 << 26);
  cudaMalloc(&y, 1 << 26);
  LAUNCH
}
"""


def _costs(path: Path, source: str) -> list[FindingCost]:
    path.write_text(source)
    report = check_file(CheckJob(str(path), AnalysisOptions(), Selection(("CL101",)), pictures=False))
    assert isinstance(report, FileReport)
    return [d.cost for d in report.diagnostics if d.cost is not None]


@pytest.mark.parametrize("launch", ["sums<<<256, 256>>>(x, y, 65536, 256);", "sums<<<16, 256>>>(x, y, 4096, 256);"])
def test_a_kernel_that_is_bound_by_needless_traffic_is_faster_without(tmp_path: Path, launch: str) -> None:
    """Each thread reads a row: 32 sectors for each load, of which L1 keeps seven in eight for the next seven turns. L1
    takes 32 clocks for them, as words that lie rows of 256 floats apart are in one of its banks (33 on an H100, with
    rows of 4096), and 1 for the 4 sectors of neighbours; what DRAM brings is the same."""
    [cost] = _costs(tmp_path / "k.cu", _ROWS + _LAUNCHES.replace("LAUNCH", launch))
    assert cost.limiter == "l1"
    assert cost.traffic_share == pytest.approx(28 / 32, rel=0.01)
    assert cost.kernel is not None and cost.share is not None
    work, machine = cost.kernel.work, machine_of(find_target("a100"))
    requests = work.sectors / 32
    assert cost.excess.passes == pytest.approx(requests * (32 - 1), rel=0.01)
    left = replace(work, sectors=4 * requests, passes=requests)
    assert cost.share == pytest.approx(1 - estimate(left, machine).time / cost.kernel.time_us, abs=0.02)
    assert cost.share > 0.2


@pytest.mark.parametrize(
    "launches", [_LAUNCHES.replace("LAUNCH", "strided<<<16384, 256>>>(x, y, 1 << 24);"), ""], ids=["launched", "open"]
)
def test_a_stride_takes_three_quarters_of_the_traffic(tmp_path: Path, launches: str) -> None:
    """Of a load and a store of 16 sectors each, 4 would do. DRAM moves 4 times as much as lanes ask for, but for what
    L2 keeps at the end."""
    costs = _costs(tmp_path / "k.cu", _STRIDED + launches)
    assert [cost.traffic_share for cost in costs] == [pytest.approx(12 / 32)] * 2
    assert all(cost.share is not None and cost.share > 0.3 for cost in costs)
    kernel = costs[0].kernel
    assert kernel is not None and kernel.bound == "dram"
    together = cost_of_all(kernel, costs)
    assert together.traffic_share == pytest.approx(3 / 4)
    assert together.share is not None and 0.55 < together.share < 0.8
    assert together.excess.dram_bytes <= kernel.work.dram_bytes


def test_loads_wait_no_longer_without_the_excess(tmp_path: Path) -> None:
    """Of what is asked of L1 a larger part comes from L2 when less is asked for: no load waits longer for it."""
    [cost] = _costs(tmp_path / "k.cu", _ROWS + _LAUNCHES.replace("LAUNCH", "sums<<<256, 256>>>(x, y, 65536, 256);"))
    assert cost.kernel is not None
    machine = machine_of(find_target("a100"))
    work = cost.kernel.work
    launch_cost = LaunchCost(0, "exact", time_us=cost.kernel.time_us, work=work)
    for part in (0.25, 0.5, 1.0):
        excess = Excess(part * cost.excess.sectors, part * cost.excess.passes)
        less = finding_cost(launch_cost, cost.kernel.launch, excess, find_target("a100"))
        assert less.share is not None and 0 < less.share <= (cost.share or 0.0) + 1e-9
        left = replace(work, sectors=work.sectors - excess.sectors, passes=work.passes - excess.passes)
        assert estimate(left, machine).limits["latency"] == estimate(work, machine).limits["latency"]


def test_traffic_is_told_where_the_time_is_not_known(tmp_path: Path) -> None:
    """What all counts have in common as a factor makes no difference for it; what is not counted does."""
    path = tmp_path / "k.cu"
    path.write_text(_STRIDED)
    report = check_file(CheckJob(str(path), AnalysisOptions(), Selection(("CL101",)), pictures=False))
    assert isinstance(report, FileReport)
    [kernel] = analyse_file(str(path), AnalysisOptions()).kernels
    assert kernel.costs is not None
    unknown = replace(kernel, costs=tuple(LaunchCost(cost.launch, "unknown", scale=7.0) for cost in kernel.costs))
    store, *others = kernel.accesses
    open_store = replace(store, results=tuple(replace(result, requests=None) for result in store.results))
    for diagnostic in report.diagnostics:
        cost = with_cost(diagnostic, unknown, find_target("a100")).cost
        assert cost is not None
        assert cost.share is None
        assert cost.traffic_share == pytest.approx(12 / 32)
        cost = with_cost(diagnostic, replace(unknown, accesses=(open_store, *others)), find_target("a100")).cost
        assert cost is not None
        assert cost.traffic_share is None


def _told(folder: Path, seed: int, *arguments: str) -> dict[object, object]:
    """What each finding costs in a run, by its place."""
    command = [sys.executable, "-m", "cudalint", "check", "--format", "json", "--min-share", "0", *arguments]
    environment = {name: text for name, text in os.environ.items() if name != "CUDALINT_NO_CACHE"}
    environment["PYTHONHASHSEED"] = str(seed)
    environment["PYTHONPATH"] = str(Path(__file__).parents[3])
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["diagnostics"]
    return {(d["path"], d["line"], d["code"], d["kernel"]): d["cost"] for d in found if d["cost"] is not None}


def test_shares_are_the_same_in_every_run(tmp_path: Path) -> None:
    """Whatever the order of files, the number of processes, other files, results of earlier runs, and the order that
    Python's sets have. Each run is a process of its own."""
    launch = "sums<<<n / 256, 256>>>(x, y, n, m); strided<<<n / 1024, 256>>>(x, y, n);"
    (tmp_path / "common.cuh").write_text(_ROWS + _STRIDED)
    (tmp_path / "a.cu").write_text('#include "common.cuh"' + _LAUNCHES.replace("LAUNCH", launch))
    (tmp_path / "b.cu").write_text(_STRIDED + _LAUNCHES.replace("LAUNCH", "strided<<<n / 512, 512>>>(x, y, n);"))
    cache = ("--cache-dir", str(tmp_path / "cache"))
    first = _told(tmp_path, 1, "-j1", "--no-cache", "a.cu", "b.cu")
    assert len({path for path, *_ in first}) == 2  # type: ignore[misc]
    assert _told(tmp_path, 2, "-j2", *cache, "b.cu", "a.cu") == first
    assert _told(tmp_path, 3, "-j1", *cache, "a.cu", "b.cu") == first
    alone = _told(tmp_path, 4, "-j1", "--no-cache", "b.cu")
    assert alone and alone.items() <= first.items()


def test_what_stands_at_one_place_is_taken_out_once(tmp_path: Path) -> None:
    """A load and a store of 32 sectors where 4 would do are two findings about one expression."""
    source = _ROWS.replace("s += x[row * m + j];", "y[row * m + j] *= 2;")
    costs = _costs(tmp_path / "k.cu", source + _LAUNCHES.replace("LAUNCH", "sums<<<256, 256>>>(x, y, 65536, 256);"))
    assert len(costs) == 2
    assert costs[0].kernel is not None
    together = cost_of_all(costs[0].kernel, costs)
    assert (together.sectors, together.share) == (costs[0].sectors, costs[0].share)
    assert together.traffic_share == pytest.approx(28 / 32, rel=0.01)
