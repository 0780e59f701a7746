"""Arithmetic intensity of the textbook's kernels. Expected is what the arithmetic beside each of them says."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import LaunchCost
from cudalint.hardware.targets import find_target
from cudalint.kinds import Kind
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_ADD = """
__global__ void k(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
void run(float* a, float* b, float* c) { k<<<4096, 256>>>(a, b, c, 1048576); }
"""
_NAIVE = """
__global__ void k(const float* a, const float* b, float* c, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
  for (int i = 0; i < n; i++) sum += a[y * n + i] * b[i * n + x];
  c[y * n + x] = sum;
}
void run(float* a, float* b, float* c) { k<<<dim3(64, 64), dim3(16, 16)>>>(a, b, c, 1024); }
"""
_TILED = """
constexpr int T = TILE;
__global__ void k(const float* a, const float* b, float* c, int n) {
  __shared__ float p[T][T], q[T][T];
  int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
  float sum = 0;
  for (int t = 0; t < n / T; t++) {
    p[threadIdx.y][threadIdx.x] = a[y * n + t * T + threadIdx.x];
    q[threadIdx.y][threadIdx.x] = b[(t * T + threadIdx.y) * n + x];
    __syncthreads();
    for (int i = 0; i < T; i++) sum += p[threadIdx.y][i] * q[i][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}
void run(float* a, float* b, float* c) { k<<<dim3(1024 / T, 1024 / T), dim3(T, T)>>>(a, b, c, 1024); }
"""


def _cost(folder: Path, source: str) -> LaunchCost:
    path = folder / "k.cu"
    path.write_text(source)
    kinds: frozenset[Kind] = frozenset({"costs"})
    [kernel] = analyse_file(str(path), AnalysisOptions(kinds=kinds)).kernels
    assert kernel.accesses == ()
    assert kernel.costs is not None
    [cost] = kernel.costs
    return cost


def test_sum_of_vectors(tmp_path: Path) -> None:
    cost = _cost(tmp_path, _ADD)
    # One sum for each of 2^20 elements; two are read and one is written, of 4 bytes: 1/12 FLOP per byte.
    assert cost.status == "exact"
    assert cost.operations is not None
    assert (cost.operations.fp32, cost.operations.fp64) == (1 << 20, 0)
    assert (cost.read_bytes, cost.written_bytes) == (8 << 20, 4 << 20)
    # Each of 2^15 warps makes three requests of four sectors.
    assert cost.requests == {"global": 3 << 15, "shared": 0}
    assert cost.sectors == 12 << 15
    assert cost.arithmetic_intensity == pytest.approx(1 / 12)
    assert cost.bound == "dram"
    assert cost.ridge == pytest.approx(12.5, rel=0.01)


def test_naive_product_asks_for_each_element_again(tmp_path: Path) -> None:
    cost = _cost(tmp_path, _NAIVE)
    assert cost.operations is not None
    # A product and a sum for each of n^3; two elements of 4 bytes for both: 2/8. The store adds 4 bytes to 8192.
    assert cost.operations.fp32 == pytest.approx(2 << 30)
    assert cost.requested_intensity == pytest.approx(0.25, rel=0.001)


@pytest.mark.parametrize("tile", [8, 32])
def test_a_tile_is_asked_for_once(tmp_path: Path, tile: int) -> None:
    cost = _cost(tmp_path, _TILED.replace("TILE", str(tile)))
    assert cost.operations is not None
    # Of a tile's column of T elements, a thread loads one: T products and sums for 8 bytes.
    assert cost.operations.fp32 == pytest.approx(2 << 30)
    assert cost.requested_intensity == pytest.approx(tile / 4, rel=0.02)


def test_ridge_of_the_a100() -> None:
    # 19.5 TFLOP/s over 1.555 TB/s.
    assert find_target("a100").ridge == pytest.approx(12.54, abs=0.01)
