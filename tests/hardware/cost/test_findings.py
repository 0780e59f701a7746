"""What findings cost: their excess, and what of the time goes without it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob
from cudalint.run.runs import result_of

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
    job = CheckJob(str(path), AnalysisOptions(), Selection(("CL101",)), pictures=False)
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


def test_places_that_data_gives_count(tmp_path: Path) -> None:
    """Four indices side by side in 16 sectors (16 bytes for each of 32 lanes); what they name are 4 sectors if it is
    side by side and 32 if it is not, in the geometric mean 11.3; and the store has 32 where 4 would do."""
    source = """
__global__ void gather(const int4* at, const float* a, float* b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int4 j = at[i];
  b[8 * i] = a[j.x] + a[j.y] + a[j.z] + a[j.w];
}
void run(int4* at, float* a, float* b) { gather<<<4096, 256>>>(at, a, b); }
"""
    [finding] = _report(tmp_path / "k.cu", source, "CL101").diagnostics
    assert finding.cost is not None
    assert finding.cost.traffic_share == pytest.approx(28 / (16 + 4 * 128**0.5 + 32), rel=0.01)


def test_what_l1_keeps_does_not_come_from_l2_again(tmp_path: Path) -> None:
    """The fields of records of 16 bytes: four loads ask for the 16 sectors of a warp of them, which come once, and
    hold nothing else. Of 64 sectors 48 would not be asked of L1, and L2 is asked for none of them."""
    source = """
struct Record { float x, y, z, w; };
__global__ void sums(const Record* a, float* b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = a[i].x + a[i].y + a[i].z + a[i].w;
}
void run(Record* a, float* b) { sums<<<4096, 256>>>(a, b); }
"""
    found = [d.cost for d in _report(tmp_path / "k.cu", source, "CL101").diagnostics]
    assert found and all(cost is not None and cost.excess.l2_bytes == 0 for cost in found)
    assert sum(cost.sectors for cost in found if cost is not None) == pytest.approx(48 << 15)


_TWO = """
__global__ void copy(const float* a, float* b) {
  __shared__ float t[32][32];
  t[threadIdx.x][threadIdx.y] = a[32 * (blockIdx.x * 1024 + threadIdx.y * 32 + threadIdx.x)];
  __syncthreads();
  b[blockIdx.x * 1024 + threadIdx.y * 32 + threadIdx.x] = t[threadIdx.y][threadIdx.x];
}
__global__ void rare(const float* a, float* b) {
  for (int i = threadIdx.x; i < 1 << 20; i += 256) b[i] = a[i];
  if (threadIdx.x < 4) b[1024 * threadIdx.x] = 0;
}
void run() {
  float *a, *b;
  cudaMalloc(&a, 4096u * 1024 * 32 * sizeof(float));
  cudaMalloc(&b, 4096u * 1024 * sizeof(float));
  copy<<<4096, dim3(32, 32)>>>(a, b);
  rare<<<1, 256>>>(a, b);
}
"""


def _report(path: Path, source: str, *codes: str) -> FileReport:
    path.write_text(source)
    report = check_file(CheckJob(str(path), AnalysisOptions(), Selection(codes), pictures=False))
    assert isinstance(report, FileReport)
    return report


def test_no_cost_where_accesses_and_launch_need_other_sizes(tmp_path: Path) -> None:
    """The grid is for a product of powers that has no generic value, the accesses for sizes that reach them."""
    path = tmp_path / "k.cu"
    path.write_text("""
#include <cmath>
__global__ void pairs(unsigned num, const float2 *in, float2 *out, unsigned width) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < num) {
        unsigned x = i % width * 2, y = i / width * 2;
        float2 a = in[y * 2 * width + x], b = in[y * 2 * width + x + 1];
        out[i] = make_float2(a.x + b.x, a.y + b.y);
    }
}
void levels(const float2 *in, float2 *out, unsigned width, unsigned height, int count) {
    int hw = (height / std::pow(2, count)) * (width / std::pow(2, count));
    unsigned num = hw * std::pow(4, count - 1);
    pairs<<<(num + 1023) / 1024, 1024>>>(num, in, out, width / 2);
}
""")
    report = check_file(CheckJob(str(path), AnalysisOptions(), Selection(("CL101",)), pictures=False))
    assert isinstance(report, FileReport)
    assert report.diagnostics
    for finding in report.diagnostics:
        assert finding.cost is not None
        assert finding.cost.share is None


def test_what_takes_less_than_the_least_share_is_counted(tmp_path: Path) -> None:
    """By 2^17 warps one request each takes 32 sectors where 4 would do, and 32 wavefronts where 1 would: 28 and 31 of
    32 + 4 sectors, of which four are as much as a wavefront, and 32 + 1 wavefronts that the kernel takes."""
    report = _report(tmp_path / "k.cu", _TWO, "CL101", "CL201")
    strided, conflict = sorted(report.diagnostics, key=lambda d: d.code)
    assert strided.cost is not None
    assert conflict.cost is not None
    assert strided.cost.traffic_share == pytest.approx(28 / 4 / (36 / 4 + 33), rel=0.01)
    assert conflict.cost.traffic_share == pytest.approx(31 / (36 / 4 + 33), rel=0.01)

    def shown(least: float) -> tuple[list[str], int]:
        result = result_of([report.with_least(least)], [], "a100")
        return [d.code for d in result.diagnostics], len(result.minor)

    assert shown(0.01) == (["CL201", "CL101"], 0)
    time = strided.cost.share
    assert time is not None
    assert conflict.cost.share is not None
    # The one is asked for its share of the time, and for that of the traffic; of a bank conflict half of its share of
    # the traffic is enough.
    least = min(time, 7 / 42)
    assert shown(0.99 * least)[0][-1:] == ["CL101"]
    assert "CL101" not in shown(1.01 * least)[0]
    enough = max(31 / 42 / 2, min(conflict.cost.share, 31 / 42))
    assert "CL201" in shown(0.99 * enough)[0]
    assert "CL201" not in shown(1.02 * enough)[0]
    as_error = msgspec.structs.replace(
        report, diagnostics=tuple(msgspec.structs.replace(d, severity="error") for d in report.diagnostics)
    )
    assert len(result_of([as_error.with_least(1.0)], [], "a100").diagnostics) == 2


def test_arithmetic_that_could_be_of_floats_is_weighed_at_its_own_rate(tmp_path: Path) -> None:
    """An L40S does 128 operations of floats per clock and SM, and 2 of doubles: the kernel waits for these, and
    takes a fraction of the time without them."""
    path = tmp_path / "k.cu"
    path.write_text(_DOUBLES)
    report = check_file(CheckJob(str(path), AnalysisOptions(target="l40s"), Selection(("CL602",)), pictures=False))
    assert isinstance(report, FileReport)
    cost = report.diagnostics[0].cost
    assert cost is not None
    assert cost.limiter == "fp64"
    assert cost.speedup is not None
    assert cost.speedup > 4


_DOUBLES = """
__global__ void k(float* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = a[i];
  for (int j = 0; j < 1000; j++) x = x * 0.1 + 1.7;
  a[i] = x;
}
void run(float* a) { k<<<4096, 256>>>(a); }
"""


def test_findings_of_one_cause_are_weighed_together(tmp_path: Path) -> None:
    """Four fields of one struct, each of which takes a quarter of the traffic's waste: what is under the least share by
    itself is over it with the others."""
    report = _report(tmp_path / "k.cu", _FIELDS, "CL101")
    shares = [d.cost.weight for d in report.diagnostics if d.cost is not None]
    assert len(shares) == 4
    least = 1.5 * max(time + 0.1 * traffic for _, time, traffic in shares)
    result = result_of([report.with_least(least)], [], "a100")
    assert (len(result.diagnostics), len(result.minor)) == (4, 0)
    alone = result_of([report.with_least(1.0)], [], "a100")
    assert (len(alone.diagnostics), len(alone.minor)) == (0, 4)


_FIELDS = """
struct Cell { float a, b, c, d, more[28]; };
__global__ void k(const Cell* cells, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = cells[i].a * 2;
  out[i + 1048576] = cells[i].b * 2;
  out[i + 2097152] = cells[i].c * 2;
  out[i + 3145728] = cells[i].d * 2;
}
void run(float* out) {
  Cell* cells;
  cudaMalloc(&cells, 4096 * 256 * sizeof(Cell));
  k<<<4096, 256>>>(cells, out);
}
"""


def test_blocks_that_do_the_same(tmp_path: Path) -> None:
    """Of 64 blocks along y, 63 do nothing that counts: of what is asked for, one in 64 stays, and DRAM has it all."""
    source = """
__global__ void k(const float* a, float* b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  b[i] = 2 * a[i];
}
void run(float* a, float* b) { k<<<dim3(4096, 64), 256>>>(a, b); }
"""
    [finding] = _report(tmp_path / "k.cu", source, "CL507").diagnostics
    cost = finding.cost
    assert cost is not None and cost.share is not None and cost.speedup is not None
    assert cost.excess.repeated == 63 / 64
    # 2^20 elements are 8 MB, which DRAM moves in 5 us; 64 times as much comes from L2 and is stored there.
    assert 0.8 < cost.share < 63 / 64
    assert 5 < cost.speedup < 64


_CONSTANTS = """
__constant__ float weights[256];
__global__ void each_time(const float *in, float *out) {
  float sum = 0;
  for (int k = 0; k < 64; k++) sum += weights[(threadIdx.x + k) % 256];
  out[blockIdx.x * 256 + threadIdx.x] = sum * in[blockIdx.x * 256 + threadIdx.x];
}
__global__ void once(const float *in, float *out) {
  __shared__ float table[256];
  table[threadIdx.x] = weights[threadIdx.x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 2048; k++) sum += table[(threadIdx.x + k) % 256];
  out[blockIdx.x * 256 + threadIdx.x] = sum * in[blockIdx.x * 256 + threadIdx.x];
}
void run(float* a, float* b) { each_time<<<4096, 256>>>(a, b); once<<<4096, 256>>>(a, b); }
"""


def test_turns_of_the_constant_cache_cost_by_how_many_there_are(tmp_path: Path) -> None:
    """2^15 warps with 64 loads of 32 words: 31 turns too many each. One load of a table, beside 2048 of shared memory
    that take a turn each, is 31 of 2080 turns, and under 5% whatever waits for what."""
    often, once = sorted(_report(tmp_path / "k.cu", _CONSTANTS, "CL110").diagnostics, key=lambda each: each.place)
    assert often.cost is not None
    assert once.cost is not None
    assert often.cost.excess.turns == pytest.approx(31 * 64 << 15)
    assert often.cost.limiter == "constant"
    assert often.cost.share is not None
    assert often.cost.share > 0.5
    assert once.cost.excess.turns == pytest.approx(31 << 15)
    assert once.cost.share is not None
    assert once.cost.share < 0.05
