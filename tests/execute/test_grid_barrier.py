"""A barrier of the grid is an atomic and a load of the first thread of each block."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_SOURCE = """\
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(int* a) {
  cg::grid_group grid = cg::this_grid();
  int i = blockIdx.x * 64 + threadIdx.y * 8 + threadIdx.x;
  a[i] = i;
  %s
  a[(i + 64) %% 1024] += 1;
}
void run(int* a) {
  void* arguments[] = {&a};
  cudaLaunchCooperativeKernel((void*)k, dim3(16), dim3(8, 8), arguments);
}
"""


def _kernel(barrier: str, tmp_path: Path) -> KernelFacts:
    source = tmp_path / "k.cu"
    source.write_text(_SOURCE % barrier)
    (kernel,) = analyse_file(str(source), AnalysisOptions()).kernels
    return kernel


@pytest.mark.parametrize(
    ("barrier", "operations"),
    [
        ("grid.sync();", ["atomic", "load"]),
        ("cg::sync(grid);", ["atomic", "load"]),
        ("grid.barrier_wait(grid.barrier_arrive());", ["atomic", "load"]),
        ("cg::this_thread_block().sync();", []),
        ("__syncthreads();", []),
    ],
)
def test_the_first_thread_of_a_block_counts_and_reads(barrier: str, operations: list[str], tmp_path: Path) -> None:
    """Of the two warps of a block of 64, one has that thread."""
    counted = [access for access in _kernel(barrier, tmp_path).accesses if access.array == "grid barrier"]
    assert sorted(access.operation for access in counted) == operations
    for access in counted:
        (result,) = access.results
        assert (result.status, result.sectors_per_request, result.active_lanes) == ("exact", 1, 1)
        assert result.active_request_fraction == 0.5


def test_the_counter_is_no_race_and_the_barrier_orders(tmp_path: Path) -> None:
    assert not _kernel("grid.sync();", tmp_path).races
    assert _kernel("", tmp_path).races
