"""How many blocks the time of a launch is told for."""

from __future__ import annotations

from pathlib import Path

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_KERNEL = "#include <cstdlib>\n__global__ void k(float *p) { p[blockIdx.x * 256 + threadIdx.x] = 1; }\n"
_HOST = """int main(int argc, char **argv) {
    int n = atoi(argv[1]);
    float *p;
    cudaMalloc(&p, n * sizeof(float));
    k<<<n / 256, 256>>>(p);
}
"""
_MAKEFILE = "run: main\n\t./main 1048576\n\nmain: main.cu\n\tnvcc -o main main.cu\n"


@pytest.mark.parametrize(
    ("host", "makefile", "block", "blocks"),
    [
        # The Makefile runs it for 1048576 elements: 4096 blocks of 256.
        (_HOST, _MAKEFILE, None, 4096),
        # Nobody launches it: 2^24 threads.
        ("", "", None, (1 << 24) / 256),
        # The block is given for the run, and the grid is not.
        ("", "", (256, 1, 1), (1 << 24) / 256),
    ],
)
def test_blocks(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    makefile: str,
    block: tuple[int, int, int] | None,
    blocks: float,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.cu").write_text(_KERNEL + host)
    Path("Makefile").write_text(makefile)
    (kernel,) = analyse_file("main.cu", AnalysisOptions(block=block)).kernels
    (cost,) = kernel.costs
    assert cost.work is not None
    assert cost.work.blocks == blocks
