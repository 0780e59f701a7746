"""Kernels that are staged through a tile compute what they did, for matrices that are no multiple of it.

The kernels of `fixtures/uncoalesced-access/guarded_tiles.cu` run as they are and with their edits, on threads of the
host that wait for each other at barriers; they are compiled by nvcc, too, where that is installed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cudalint.cli import run

_FIXTURE = Path(__file__).parents[2] / "fixtures" / "uncoalesced-access" / "guarded_tiles.cu"
_BLOCKS = {
    "square_blocks": (16, 16, 16), "rows_in_turns": (32, 32, 8), "leaving_early": (32, 32, 32),
    "indices_before": (32, 32, 8), "columns_loaded": (32, 32, 8), "indices_inside": (32, 32, 32),
    "values_between": (32, 32, 32), "of_any_type<float>": (32, 32, 32),
}  # fmt: skip
"""The rows and columns of the matrix that a block is for: its side; then x and y of the block."""
_SIZES = ((1, 1), (33, 33), (64, 32), (20, 70))
_DEVICE = """
#include <barrier>
#include <cstdio>
#include <thread>
#include <vector>
struct Index { unsigned x, y; };
thread_local Index threadIdx, blockIdx;
Index blockDim;
std::barrier<> *barrier;
#define __global__
#define __shared__ static
void __syncthreads() { barrier->arrive_and_wait(); }
template <typename Kernel> void launch(Kernel kernel, unsigned columns, unsigned rows, Index block) {
    blockDim = block;
    std::barrier<> all(block.x * block.y);
    barrier = &all;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < block.x * block.y; t++)
        threads.emplace_back([=] {
            threadIdx = {t % block.x, t / block.x};
            for (unsigned b = 0; b < columns * rows; b++) {
                blockIdx = {b % columns, b / columns};
                kernel();
                __syncthreads();
            }
        });
    for (auto &thread : threads) thread.join();
}
"""
_MAIN = """
template <typename Kernel> void show(Kernel kernel, int width, int height, unsigned side, Index block, bool turned) {
    std::vector<float> in(width * height), out(width * height, -1.0f);
    for (int i = 0; i < width * height; i++) in[i] = i;
    unsigned columns = (width + side - 1) / side, rows = (height + side - 1) / side;
    if (turned) std::swap(columns, rows);
    launch([&] { kernel(out.data(), in.data(), width, height); }, columns, rows, block);
    for (float value : out) printf("%g ", value);
    printf("\\n");
}
int main() {
"""


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The fixture with all edits made."""
    folder = tmp_path_factory.mktemp("edited")
    (folder / ".git").mkdir()
    copy = Path(shutil.copy(_FIXTURE, folder))
    fix = ("--fix", "--unsafe-fixes", "-q")
    run(("check", str(copy), "--no-cache", "--no-config", "--all", "--select", "CL101", *fix))
    assert copy.read_text().count("__syncthreads();") == len(_BLOCKS)
    return copy


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++ to run the kernels with")
def test_matrices_are_transposed_as_before(edited: Path, tmp_path: Path) -> None:
    before, after = (_results(path, tmp_path) for path in (_FIXTURE, edited))
    assert len(before) == len(_BLOCKS) * len(_SIZES)
    assert not any("-1 " in line for line in before)
    assert after == before


def _results(source: Path, folder: Path) -> list[str]:
    kernels = source.read_text().partition("// --- no edit")[0]
    calls = "".join(
        f"    show({name}, {width}, {height}, {side}, {{{x}, {y}}}, {str(name == 'columns_loaded').lower()});\n"
        for name, (side, x, y) in _BLOCKS.items()
        for width, height in _SIZES
    )
    program = folder / f"{'before' if source == _FIXTURE else 'after'}.cpp"
    program.write_text(f"{_DEVICE}{re.sub(r'#pragma unroll', '', kernels)}{_MAIN}{calls}}}\n")
    binary = program.with_suffix("")
    subprocess.run(("g++", "-std=c++20", "-O1", "-w", "-pthread", "-o", binary, program), check=True)
    return subprocess.run((binary,), check=True, capture_output=True, text=True).stdout.splitlines()


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_they_compile(edited: Path, tmp_path: Path) -> None:
    subprocess.run(("nvcc", "-c", "-arch=sm_80", "-o", tmp_path / "edited.o", edited), check=True)
