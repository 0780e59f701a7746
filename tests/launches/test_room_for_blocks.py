"""Blocks that nothing gives have room in the kernel's shared arrays."""

from __future__ import annotations

from cudalint.options.analysis import AnalysisOptions
from cudalint.run.analysis import analyse_file

_REDUCTION = """
template <int N> __device__ float first(float x) {
    __shared__ float part[N];
    volatile float *own = part;
    own[threadIdx.x] = x;
    __syncthreads();
    return own[0];
}
__global__ void k(const float *in, float *out) {
    out[blockIdx.x] = first<64>(in[blockIdx.x * blockDim.x + threadIdx.x]);
}
"""


def _launch(source: str) -> tuple[tuple[int, int, int], str, tuple[str, ...]]:
    [kernel] = analyse_file("a.cu", AnalysisOptions(unsaved=(("a.cu", source),))).kernels
    [launch] = kernel.launches
    return launch.block, launch.source, launch.assumptions


def test_a_block_of_no_launch() -> None:
    """64 elements are 64 threads, whatever spells the access."""
    why = "block = 64 (from the extents of `part`; no launch in sight)"
    assert _launch(_REDUCTION) == ((64, 1, 1), "inferred", (why,))


def test_a_block_that_the_launch_leaves_open() -> None:
    source = (
        _REDUCTION + "void run(const float *in, float *out, dim3 grid, dim3 block) { k<<<grid, block>>>(in, out); }"
    )
    block, source, assumptions = _launch(source)
    assert (block, source) == ((64, 1, 1), "default")
    assert "block = 64 (from the extents of `part`; the launch leaves it open)" in assumptions


def test_a_block_that_the_launch_gives() -> None:
    """It is what it is, and the access out of bounds."""
    source = _REDUCTION + "void run(const float *in, float *out) { k<<<9, 128>>>(in, out); }"
    assert _launch(source)[:2] == ((128, 1, 1), "launch-site")


def test_sizes_say_who_comes() -> None:
    """Threads from `n` on have no element, and nothing says how many there are before."""
    source = """__global__ void k(float *out, int n) {
        __shared__ float part[64];
        if (threadIdx.x < n) part[threadIdx.x] = 1;
        __syncthreads();
        out[threadIdx.x] = part[0];
    }"""
    assert _launch(source)[0] == (256, 1, 1)
