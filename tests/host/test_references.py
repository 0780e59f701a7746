"""Functions of the host code that choose a block through a reference."""

from __future__ import annotations

import pytest

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

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


@pytest.mark.parametrize("launch", ["cudaLaunchKernel", "cudaLaunchCooperativeKernel"])
def test_the_address_of_the_only_argument(launch: str) -> None:
    """The launch takes an array of addresses: a variable that holds one is such an array. Rows of 48 floats start at
    multiples of 192 bytes, each of 32 lanes in a sector of its own."""
    source = f"""
    struct Rows {{ float *data; int count, pitch; }};
    __global__ void k(Rows rows) {{ if (threadIdx.x < rows.count) rows.data[rows.pitch * threadIdx.x] = 1; }}
    void run() {{
        Rows rows;
        cudaMalloc(&rows.data, 1 << 20);
        rows.count = 32;
        rows.pitch = 48;
        void *argument = &rows;
        {launch}((void *)k, dim3(4), dim3(32), &argument, 0, 0);
    }}
    """
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    [result] = kernel.accesses[0].results
    assert (result.status, result.sectors_per_request) == ("exact", 32)


def test_a_size_from_a_file_is_called_after_the_variable_that_it_is_read_for() -> None:
    """Not after the buffer of the function that reads it."""
    source = """
    struct Stream { unsigned char *bytes; int width; };
    __global__ void k(float *a, int n) { a[n * threadIdx.y + threadIdx.x] = 1; }
    int load(Stream *s, int *x) { if (x) *x = s->width; return 1; }
    int first(int *sizes) { int count = sizes[3]; return 2 * count; }
    void run(Stream *stream, int *sizes, float *a) {
        int width;
        load(stream, &width);
        k<<<64, dim3(16, 16)>>>(a, 3 * width);
        k<<<64, dim3(16, 16)>>>(a, first(sizes));
    }
    """
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    told = " ".join(text for r in kernel.accesses[0].results for text in (*r.assumptions, r.reason or ""))
    assert "width" in told and "count" in told and "[...]" not in told
