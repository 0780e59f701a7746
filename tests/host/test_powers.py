"""Powers: host code makes sizes of them (`n / pow(block, pass)`), and kernels make strides."""

from __future__ import annotations

import pytest

from cudalint.facts import LaunchFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_SOURCE = """
#include <cmath>
#include <cstdlib>
__global__ void k(float *x) { x[threadIdx.x] = 0; }
int main(int argc, char **argv) {
    float *x;
    int n = argc > 1 ? atoi(argv[1]) : 1 << 20, base = argc > 2 ? atoi(argv[2]) : 32;
    cudaMalloc(&x, n * sizeof(float));
    %s
}
"""


def _launch(statements: str) -> LaunchFacts:
    facts = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _SOURCE % statements),)))
    (launch,) = facts.kernels[0].launches
    return launch


@pytest.mark.parametrize(
    ("statements", "threads"),
    [
        # log(2^20) / log(32) = 4 passes, and 2^20 / 32^3 = 32.
        ("int left = log((float)n) / log((float)base) + 0.5f; k<<<1, (int)(n / pow(base, left - 1))>>>(x);", 32),
        ("k<<<1, (int)std::pow((float)base, 2.0f) / 8>>>(x);", 128),
        ("k<<<1, (int)pow(2, base / 4)>>>(x);", 256),
        ("k<<<1, (int)powf(2, 6)>>>(x);", 64),
    ],
)
def test_sizes_of_host_code(statements: str, threads: int) -> None:
    assert _launch(statements).block == (threads, 1, 1)
