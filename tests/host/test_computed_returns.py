"""Functions of the host code that compute what they return in several ways."""

from __future__ import annotations

import pytest

from cudalint.facts import KernelFacts
from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_PROGRAM = """
int blocks(int n, int size) {
    if (n % size == 0) return n / size;
    return n / size + 1;
}
__global__ void k(float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] = 1;
}
void run(float *a, int n) { k<<<blocks(SIZE, 128), 128>>>(a, SIZE); }
"""


def _kernel(size: str) -> KernelFacts:
    return analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _PROGRAM.replace("SIZE", size)),))).kernels[0]


@pytest.mark.parametrize(("size", "grid"), [("1024", 8), ("1025", 9)])
def test_numbers_choose(size: str, grid: int) -> None:
    assert _kernel(size).launches[0].grid == (grid, 1, 1)


def test_a_generic_size_that_divides_has_no_block_more() -> None:
    """Generic sizes are multiples of 32 blocks' worth: no warp is left over, and all of them have work."""
    result = _kernel("n").accesses[0].results[0]
    assert (result.sectors_per_request, result.active_request_fraction) == (4, 1)
