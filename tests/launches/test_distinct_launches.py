"""Launches in loops of host code: which are evaluated, and that the others are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.report.findings.results import coverage_of
from cudalint.report.formats import facts_text
from cudalint.report.formats.style import Style
from cudalint.run.analysis import analyse_file

_KERNEL = "__global__ void k(float *a, int s) { a[blockIdx.x * blockDim.x + threadIdx.x] = s; }\n"


def _kernel(tmp_path: Path, host: str) -> KernelFacts:
    path = tmp_path / "a.cu"
    path.write_text(f"{_KERNEL}int main() {{ float *a; int n = 1 << 20; cudaMalloc(&a, n * 4);\n{host}\n}}\n")
    (kernel,) = analyse_file(str(path), AnalysisOptions()).kernels
    return kernel


def _left_out(kernel: KernelFacts) -> list[tuple[int | None, int, bool]]:
    return [(each.line, each.launches, each.is_least) for each in kernel.left_out]


def test_grids_that_shrink(tmp_path: Path) -> None:
    """2^19 to 2^0 are 20 sizes; those of at most 256 take one block, so that eleven more than the one are larger."""
    kernel = _kernel(tmp_path, "for (int s = n / 2; s > 0; s >>= 1) k<<<(s + 255) / 256, 256>>>(a, s);")
    grids = [launch.grid[0] for launch in kernel.launches]
    assert grids == [2048, 1024, 512, 256, 128, 64, 32, 1]
    assert _left_out(kernel) == [(3, 12, False)]


def test_arguments_that_change(tmp_path: Path) -> None:
    kernel = _kernel(tmp_path, "for (int s = 1; s <= 1024; s *= 2) k<<<64, 256>>>(a, s);")
    assert [launch.parameters for launch in kernel.launches] == [{"s": 1}]
    assert _left_out(kernel) == [(3, 10, False)]


@pytest.mark.parametrize(
    "host",
    [
        "for (int i = 0; i < 1000; i++) k<<<64, 256>>>(a, n);",
        "for (int i = 0; i < n; i++) { k<<<64, 256>>>(a, n); cudaDeviceSynchronize(); }",
        "k<<<64, 256>>>(a, n); k<<<64, 256>>>(a, n);",
    ],
)
def test_the_same_launch_again_is_no_other_one(tmp_path: Path, host: str) -> None:
    kernel = _kernel(tmp_path, host)
    assert len(kernel.launches) == 1 and _left_out(kernel) == []


def test_a_long_loop_makes_at_least_those_that_were_followed(tmp_path: Path) -> None:
    kernel = _kernel(tmp_path, "for (int i = 0; i < 100000; i++) k<<<64, 256>>>(a, i);")
    ((line, launches, is_least),) = _left_out(kernel)
    assert line == 3 and launches > 20 and is_least


def test_what_comes_after_a_loop_is_evaluated_too(tmp_path: Path) -> None:
    host = "for (int i = 1; i < 30; i++) k<<<i, 256>>>(a, i);\nk<<<n / 64, 64>>>(a, n);"
    kernel = _kernel(tmp_path, host)
    assert len(kernel.launches) == 8
    assert [(launch.line, launch.block[0]) for launch in kernel.launches][-1] == (4, 64)
    assert _left_out(kernel) == [(3, 22, False)]


def test_a_value_is_known_after_a_loop_that_was_followed(tmp_path: Path) -> None:
    host = "int s = 1;\nfor (; s < 1000; s *= 3) k<<<s, 32>>>(a, s);\nk<<<s, 64>>>(a, s);"
    last = _kernel(tmp_path, host).launches[-1]
    assert (last.block, last.grid, last.parameters) == ((64, 1, 1), (2187, 1, 1), {"s": 2187})


def test_text_and_count(tmp_path: Path) -> None:
    """Launches with the same figures share a table."""
    path = tmp_path / "a.cu"
    path.write_text(f"{_KERNEL}void run(float *a) {{\nfor (int i = 1; i < 11; i++) k<<<i, 256>>>(a, i);\n}}\n")
    facts = analyse_file(str(path), AnalysisOptions())
    lines = list(facts_text.render(facts, Style(enabled=False, unicode=False)))
    assert sum("the same for block 256, grid" in line for line in lines) == 7
    assert sum(line.startswith("  line") for line in lines) == 1
    assert lines[-2] == f"  {path}:3: not evaluated: 2 more launches there, with other grids or arguments"
    assert coverage_of(facts).launches_left_out == 2


def test_a_launch_that_leaves_the_block_open_is_said_to(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text(f"{_KERNEL}void run(float *a, int block) {{\nk<<<64, block>>>(a, 1);\nk<<<64, 32>>>(a, 1);\n}}\n")
    lines = list(facts_text.render(analyse_file(str(path), AnalysisOptions()), Style(enabled=False, unicode=False)))
    assert f"{path}:1: k, for block 256, grid 64 (the launch at {path}:3 leaves the block open)" in lines
    assert f"{path}:1: k, for block 32, grid 64 (launch at {path}:4)" in lines


_STRIDED = "__global__ void k(float *a, int s) { a[(blockIdx.x * blockDim.x + threadIdx.x) * s] = s; }\n"


def _sectors(tmp_path: Path, host: str) -> list[tuple[object, float | None]]:
    """By launch: the stride, and the sectors per request."""
    path = tmp_path / "a.cu"
    path.write_text(f"{_STRIDED}int main() {{ float *a; cudaMalloc(&a, 1 << 28);\n{host}\n}}\n")
    (kernel,) = analyse_file(str(path), AnalysisOptions()).kernels
    (access,) = kernel.accesses
    return [(kernel.launches[r.launch].parameters["s"], r.sectors_per_request) for r in access.results]


def test_the_last_launch_of_a_loop_where_it_is_worse(tmp_path: Path) -> None:
    """With a stride of 1 a warp's 128 bytes are 4 sectors, with one of 32 each lane's is one of its own."""
    host = "for (int s = 1; s <= 32; s++) k<<<64, 256>>>(a, s);"
    assert _sectors(tmp_path, host) == [(1, 4.0), (32, 32.0)]
    assert _sectors(tmp_path, "for (int s = 32; s > 0; s--) k<<<64, 256>>>(a, s);") == [(32, 32.0)]


def test_what_is_evaluated_is_not_left_out(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    host = "for (int s = 1; s <= 32; s++) k<<<64, 256>>>(a, s);"
    path.write_text(f"{_STRIDED}void run(float *a) {{\n{host}\n}}\n")
    (kernel,) = analyse_file(str(path), AnalysisOptions()).kernels
    assert len(kernel.launches) == 2 and _left_out(kernel) == [(3, 30, False)]


def test_a_launch_of_no_block_stands_for_none(tmp_path: Path) -> None:
    """When the loop is first followed one piece of work is there, and steps = 1 makes 1 / 96 = 0 blocks."""
    path = tmp_path / "a.cu"
    path.write_text(_KERNEL + """
int next();
void run(float *a, int steps) {
    int count = 0;
    for (int j = 0; j < 4; j++)
        while (next())
            if (++count == steps) { k<<<steps / 96, 96>>>(a, count); count = 0; }
}
""")
    (kernel,) = analyse_file(str(path), AnalysisOptions()).kernels
    assert [launch.grid[0] > 1 for launch in kernel.launches] == [True]


def test_a_launch_that_leaves_its_block_open_where_a_caller_says_it(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text(_KERNEL + """
static int sizes[2];
void update(float *a) { k<<<8, sizes[1]>>>(a, 1); }
void run(float *a) { sizes[1] = 40; update(a); }
""")
    (kernel,) = analyse_file(str(path), AnalysisOptions()).kernels
    assert [(launch.block[0], launch.source) for launch in kernel.launches] == [(40, "launch-site")]


@pytest.mark.parametrize(
    ("calls", "launches"),
    [
        # Nobody knows x, y and z: whatever the one launch shows, the other one would.
        ("run(a, x, y); run(a, y, z);", 1),
        # One length is the other argument, too, or a number.
        ("run(a, x, y); run(a, y, y + z * z);", 2),
        ("run(a, x, y); run(a, x + 1, x + 1);", 2),
        ("run(a, x, 4); run(a, y, 4);", 1),
        ("run(a, 4096, y); run(a, 8192, y);", 2),
        ("if (x % 4 == 0) run(a, x, 4); if (y % 4 == 0) run(a, y, 4);", 1),
        ("if (x % 4 == 0) run(a, x, 4); if (y % 4 != 0) run(a, y, 4);", 2),
    ],
)
def test_launches_that_differ_by_names_are_one(calls: str, launches: int, tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text(f"""#include <cstdlib>
__global__ void k(float *a, int n, int m) {{ int i = blockIdx.x * 128 + threadIdx.x; if (i < n) a[i * m] = 1; }}
void run(float *a, int n, int m) {{ k<<<(n + 127) / 128, 128>>>(a, n, m); }}
int main(int argc, char **v) {{
  float *a; cudaMalloc(&a, 1 << 30); int x = atoi(v[1]), y = atoi(v[2]), z = atoi(v[3]); {calls}
}}""")
    (kernel,) = analyse_file(str(path), AnalysisOptions()).kernels
    assert len(kernel.launches) == launches
    assert kernel.left_out == ()


def test_sizes_that_a_loop_counts_are_the_same_each_time(tmp_path: Path) -> None:
    """The logarithm of one size is one number, whoever asks for it, and that of another one is another."""
    path = tmp_path / "a.cu"
    path.write_text(
        "__global__ void k(int *a, int bits) { a[threadIdx.x + bits] = 1; }\n"
        "int log2_ceil(int n) { int bits = 0; while ((1 << bits) < n) ++bits; return bits; }\n"
        "void run(int *a, int n) { int bits = log2_ceil(n); k<<<1 << bits, 64>>>(a, bits); }\n"
        "void all(int *a, int n, int m) { run(a, n); run(a, n); run(a, m); }\n"
    )
    [kernel] = analyse_file(str(path), AnalysisOptions()).kernels
    assert len(kernel.launches) == 2
