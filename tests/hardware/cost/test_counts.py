"""Requests and traffic of launches. Expected is what the arithmetic beside each of them says."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_LARGER_THAN_ITS_WORK = """
__global__ void k(const float *in, float *out, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    for (int j = 0; j < 3; j++) out[i * 3 + j] = 2 * in[i * 3 + j];
}
void run(const float *in, float *out) { k<<<1000000, 256>>>(in, out, 4096); }
"""
_ROWS_OF_BYTES = """
__global__ void k(const unsigned char *in, int *out) {
    int row = blockIdx.x * 256 + threadIdx.x, sum = 0;
    for (int j = 0; j < 4096; j++) sum += in[row * 4096 + j];
    out[row] = sum;
}
void run(const unsigned char *in, int *out) { k<<<64, 256>>>(in, out); }
"""
_SUM = """
__global__ void k(const float *in, float *out) {
    __shared__ float own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&own[threadIdx.x], in[blockIdx.x * 256 + threadIdx.x]);
    __syncthreads();
    out[blockIdx.x * 256 + threadIdx.x] = own[threadIdx.x];
}
void run(const float *in, float *out) { k<<<64, 256>>>(in, out); }
"""


def _kernel(source: str, tmp_path: Path) -> KernelFacts:
    path = tmp_path / "a.cu"
    path.write_text(source, encoding="utf-8")
    [kernel] = analyse_file(str(path), AnalysisOptions()).kernels
    return kernel


def test_a_grid_that_is_larger_than_its_work(tmp_path: Path) -> None:
    # 4096 threads are 128 warps, with 3 iterations each. They touch 12,288 floats on either side.
    kernel = _kernel(_LARGER_THAN_ITS_WORK, tmp_path)
    requests = [sum(result.requests or 0 for result in access.results) for access in kernel.accesses]
    assert requests == [384, 384]
    [cost] = kernel.costs or ()
    assert (cost.read_bytes, cost.written_bytes) == (pytest.approx(49152, rel=0.05), pytest.approx(49152, rel=0.05))


def test_rows_that_threads_go_along_by_bytes(tmp_path: Path) -> None:
    # 16,384 rows of 4,096 bytes, each sector of which is wanted in 32 iterations and comes from DRAM once.
    [cost] = _kernel(_ROWS_OF_BYTES, tmp_path).costs or ()
    assert cost.read_bytes == pytest.approx(1 << 26, rel=0.05)
    assert cost.dram_bytes == pytest.approx(1 << 26, rel=0.05)


def test_an_atomic_on_a_float_in_shared_memory_is_a_load_and_a_swap_of_two_numbers(tmp_path: Path) -> None:
    # 512 warps store, add and load: 1 + (1 + 2) + 1 wavefronts.
    [cost] = _kernel(_SUM, tmp_path).costs or ()
    assert cost.wavefronts == 512 * 5


_TURNS = """
__global__ void k(const float *in, float *out, int n) {
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) out[i] = 2 * in[i];
}
void run(const float *in, float *out) { k<<<64, 256>>>(in, out, 4096); }
"""


def test_a_grid_most_of_whose_blocks_have_no_turn_of_a_loop(tmp_path: Path) -> None:
    # 4,096 of 16,384 threads have one each: a product, and 16 KB from and to L2 that 512 sectors hold on either side.
    [cost] = _kernel(_TURNS, tmp_path).costs or ()
    assert cost.operations is not None
    assert (cost.operations.fp32, cost.sectors, cost.l2_bytes) == (4096, 1024, pytest.approx(32768, rel=0.05))
    assert (cost.read_bytes, cost.written_bytes) == (pytest.approx(16384, rel=0.05), pytest.approx(16384, rel=0.05))


_PARTS_OF_A_WHOLE = """
#include <cstdlib>
__global__ void k(float *out, int first, int second) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < first + second) out[i] = i < first ? 1 : 2;
}
int main() {
    const int whole = 1 << 24, first = rand() % whole, second = whole - first;
    float *out;
    cudaMalloc(&out, whole * sizeof(float));
    k<<<(first + second + 255) / 256, 256>>>(out, first, second);
}
"""


def test_parts_of_which_nobody_says_how_large_they_are_make_a_whole(tmp_path: Path) -> None:
    # 2^24 floats are 2^21 sectors, wherever the second part begins.
    kernel = _kernel(_PARTS_OF_A_WHOLE, tmp_path)
    [cost] = kernel.costs or ()
    assert (kernel.launches[0].grid, cost.sectors) == ((1 << 16, 1, 1), 1 << 21)


_FIELDS = """
__global__ void k(const float4 *in, float *out) {
    int i = blockIdx.x * 256 + threadIdx.x;
    float sum = in[i].x + in[i].y + in[i].z;
    out[i] = sum * in[i].w;
}
void run(const float4 *in, float *out) { k<<<64, 256>>>(in, out); }
"""


def test_fields_that_come_by_one_load_are_one_request(tmp_path: Path) -> None:
    # 512 warps load 512 bytes each at once and store 128; counters have the load at the line of the first field.
    kernel = _kernel(_FIELDS, tmp_path)
    requests = {(a.position[0], a.operation): 0.0 for a in kernel.accesses}
    for access in kernel.accesses:
        requests[access.position[0], access.operation] += sum(result.requests or 0 for result in access.results)
    [cost] = kernel.costs or ()
    assert requests == {(4, "load"): 512, (5, "load"): 0, (5, "store"): 512}
    assert (cost.sectors, cost.l2_bytes) == (512 * (16 + 4), 512 * 640)
