"""Functions of the host code that choose a block through a reference."""

from __future__ import annotations

import pytest

from cudalint.analysis import analyse_file
from cudalint.options import AnalysisOptions

_CHOOSE = """
__global__ void k(float *a) { a[threadIdx.x] = 1; }
int choose(int n, dim3 &block) {
    int blocks[3][2] = {{16, 16}, {16, 8}, {8, 4}};
    for (int i = 0; i < 3; i++) {
        int *shape = blocks[i];
        if (n %% shape[0] == 0) {
            block.x = shape[0];
            block.y = shape[1];
            return i;
        }
    }
    return -1;
}
int main(int argc, char **argv) { dim3 block; choose(%s, block); k<<<100, block>>>(0); }
"""


@pytest.mark.parametrize(
    ("size", "block"),
    # The first shape that fits, and the first at all where nobody knows.
    [("48", (16, 16, 1)), ("24", (8, 4, 1)), ("argc", (16, 16, 1))],
)
def test_a_branch_that_sets_the_block_and_returns(size: str, block: tuple[int, int, int]) -> None:
    facts = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", _CHOOSE % size),)))
    assert facts.kernels[0].launches[0].block == block
