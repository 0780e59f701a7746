"""Loops of which nothing says how long they are: what they are taken for, and what findings beside them come to."""

from __future__ import annotations

from pathlib import Path

from cudalint.facts import FindingCost, KernelFacts, LaunchCost
from cudalint.options.analysis import AnalysisOptions
from cudalint.registry import Selection
from cudalint.report.findings.results import FileReport
from cudalint.report.formats import costs
from cudalint.run.analysis import analyse_file
from cudalint.run.file_findings import check_file
from cudalint.run.job import CheckJob

_LOOPS = """
__global__ void nested(const float *in, float *out, int n, int k, int m) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int a = 0; a < k; a++)
        for (int b = 0; b < m; b++) sum += in[(a * m + b) * n + i];
    out[i] = sum;
}
__global__ void bodies(const float *in, float *out, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int a = 0; a < n; a++) sum += in[a];
    out[i] = sum;
}
__global__ void lists(const int *starts, const float *in, float *out, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int a = starts[i]; a < starts[i + 1]; a++) sum += in[a];
    out[i] = sum;
}
void run(const int *starts, const float *in, float *out, int n, int k, int m) {
    nested<<<(n + 255) / 256, 256>>>(in, out, n, k, m);
    bodies<<<(n + 255) / 256, 256>>>(in, out, n);
    lists<<<(n + 255) / 256, 256>>>(starts, in, out, n);
}
"""
_BESIDE = """
__global__ void nearest(const float *points, float *best, size_t points_in_all, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float least = 1e30f;
    FIRST
    for (int k = 0; k < 32; k++) best[(i * 32 + k) * 8] = least;
}
void run(const float *points, float *best, size_t points_in_all, int n) {
    nearest<<<(n + 255) / 256, 256>>>(points, best, points_in_all, n);
}
"""
_MAIN_LOOP = "for (int p = 0; p < points_in_all; p++) least *= points[i];"
_FIRST = "least = points[i] - i;"


def _kernels(source: str, tmp_path: Path) -> list[KernelFacts]:
    path = tmp_path / "a.cu"
    path.write_text(source, encoding="utf-8")
    return list(analyse_file(str(path), AnalysisOptions()).kernels)


def _cost(kernel: KernelFacts) -> LaunchCost:
    [cost] = kernel.costs or ()
    return cost


def test_what_loops_are_taken_for(tmp_path: Path) -> None:
    """Of sizes that loops alone have 256 turns, 16 within such a loop; of the size that makes the grid all, 5 * 2**13
    of them; of what data end, some."""
    nested, bodies, lists = (_cost(kernel) for kernel in _kernels(_LOOPS, tmp_path))
    assert nested.lengths == ("a loop at line 6 has 256 iterations", "a loop at line 7 has 16 iterations")
    assert bodies.lengths == ("a loop at line 14 has 40960 iterations",)
    [data] = lists.lengths
    assert data.startswith("a loop at line 21 has ")


def _cost_of_stores(first: str, tmp_path: Path) -> FindingCost:
    path = tmp_path / "a.cu"
    path.write_text(_BESIDE.replace("FIRST", first), encoding="utf-8")
    report = check_file(CheckJob(str(path), AnalysisOptions(), Selection(("CL101",)), pictures=False))
    assert isinstance(report, FileReport)
    cost = report.diagnostics[0].cost
    assert cost is not None and cost.share is not None and cost.share > 0.1
    return cost


def test_what_stands_beside_a_loop_of_unknown_length(tmp_path: Path) -> None:
    """32 stores of 32 sectors each, where 4 would do: the share is that of 256 points, and says so."""
    cost = _cost_of_stores(_MAIN_LOOP, tmp_path)
    assert cost.if_short == ("a loop at line 6 has 256 iterations",)
    assert "if a loop at line 6 has 256 iterations" in costs.phrase(cost)


def test_what_stands_beside_no_loop(tmp_path: Path) -> None:
    cost = _cost_of_stores(_FIRST, tmp_path)
    assert not cost.if_short


def test_a_loop_that_a_grid_of_unknown_size_shares_out_has_one_turn(tmp_path: Path) -> None:
    """A block for each tile, or fewer: both numbers are the caller's."""
    path = tmp_path / "k.cu"
    path.write_text("""
__global__ void tiles(const float *in, float *out, int count) {
    for (int tile = blockIdx.x; tile < count; tile += gridDim.x)
        out[tile * 256 + threadIdx.x] = in[tile * 256 + threadIdx.x] * 2;
}
void run(const float *in, float *out, int count, int blocks) { tiles<<<blocks, 256>>>(in, out, count); }
""")
    [kernel] = analyse_file(str(path), AnalysisOptions()).kernels
    assert kernel.costs is not None
    [cost] = kernel.costs
    assert cost.lengths == ("a loop at line 3 has 1 iteration",)
    assert cost.work is not None
    # Of 8 warps a block, each loads 4 sectors and stores as many, if there is a tile for it.
    assert 0 < cost.work.sectors <= kernel.launches[0].grid[0] * 8 * 8
